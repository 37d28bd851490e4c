package io.cassia.transfer.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.HostPort;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DescriptorCodecTest {
    private static SegmentDescriptor decode(String text) {
        return DescriptorCodec.decode(text, "peer").orThrow();
    }

    private static void assertFails(String text, TransferCode code) {
        assertThat(DescriptorCodec.decode(text, "peer"))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).as(text).isEqualTo(code);
                            assertThat(failed.detail()).startsWith("peer: ");
                        });
    }

    @Test
    void addresses_and_lengths_are_unsigned_and_exact() {
        SegmentDescriptor descriptor =
                SegmentDescriptor.tcp(
                        "n",
                        1,
                        List.of(
                                new SegmentDescriptor.Buffer("n", -1L, Long.MIN_VALUE),
                                new SegmentDescriptor.Buffer("n", Long.MIN_VALUE, -1L),
                                // A double would round it.
                                new SegmentDescriptor.Buffer("n", (1L << 53) + 1, 1)));
        String text = DescriptorCodec.encode(descriptor, "");
        assertThat(text)
                .contains(
                        "{\"addr\":18446744073709551615,\"length\":9223372036854775808,"
                                + "\"name\":\"n\"}",
                        "{\"addr\":9223372036854775808,\"length\":18446744073709551615,"
                                + "\"name\":\"n\"}",
                        "\"addr\":9007199254740993,");
        assertThat(decode(text)).isEqualTo(descriptor);
    }

    @Test
    void no_buffers_are_an_empty_list() {
        SegmentDescriptor empty = SegmentDescriptor.tcp("n", 1, List.of());
        assertThat(DescriptorCodec.encode(empty, "t"))
                .isEqualTo(
                        "{\"buffers\":[],\"name\":\"n\",\"protocol\":\"tcp\",\"tcp_data_port\":1,"
                                + "\"tcp_proto_version\":2,\"timestamp\":\"t\"}");
        assertThat(decode("{\"name\":\"n\",\"protocol\":\"tcp\",\"tcp_data_port\":1}").buffers())
                .isEmpty();
    }

    @Test
    void what_is_not_known_or_missing_is_tolerated() {
        SegmentDescriptor decoded =
                decode(
                        """
                        {
                          "epoch": {"a": [1, 2]},
                          "protocol": "tcp", "name": "n",
                          "tcp_data_port": 7,
                          "tcp_proto_version": 7,
                          "buffers": [ {"tls": true, "name": "x", "length": 2, "addr": 1} ]
                        }
                        """);
        assertThat(decoded.isAcknowledged()).isTrue();
        assertThat(decoded.buffers()).containsExactly(new SegmentDescriptor.Buffer("x", 1, 2));
        assertThat(decode("{\"name\":\"n\",\"protocol\":\"tcp\"}").isAcknowledged()).isFalse();
        assertThat(
                        decode(
                                        "{\"name\":\"n\",\"protocol\":\"tcp\","
                                                + "\"tcp_proto_version\":18446744073709551615}")
                                .isAcknowledged())
                .isTrue();
    }

    @Test
    void several_protocols_may_be_named() {
        SegmentDescriptor decoded =
                decode(
                        "{\"name\":\"n\",\"protocol\":[\"rdma\",\"tcp\"],\"tcp_data_port\":5,"
                                + "\"buffers\":[]}");
        assertThat(decoded.protocols()).containsExactly("rdma", "tcp");
        assertThat(decoded.speaksTcp()).isTrue();
        assertThat(DescriptorCodec.encode(decoded, "")).contains("\"protocol\":[\"rdma\",\"tcp\"]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"addr\":0,\"length\":1,\"name\":\"n\"}",
                "{\"addr\":1,\"length\":0,\"name\":\"n\"}",
                "{\"addr\":1,\"length\":1,\"name\":\"\"}",
                "{\"length\":1,\"name\":\"n\"}",
                "{\"addr\":1,\"name\":\"n\"}",
                "{\"addr\":1,\"length\":1}",
                "{\"addr\":1.5,\"length\":1,\"name\":\"n\"}",
                "{\"addr\":\"1\",\"length\":1,\"name\":\"n\"}",
                "{\"addr\":-1,\"length\":1,\"name\":\"n\"}",
                "{\"addr\":18446744073709551616,\"length\":1,\"name\":\"n\"}",
                "7"
            })
    void one_bad_buffer_voids_the_whole(String buffer) {
        assertFails(
                "{\"name\":\"n\",\"protocol\":\"tcp\",\"tcp_data_port\":1,\"buffers\":["
                        + "{\"addr\":1,\"length\":1,\"name\":\"n\"},"
                        + buffer
                        + "]}",
                TransferCode.ERR_METADATA);
    }

    @Test
    void other_failures_have_their_codes() {
        assertFails("null\n", TransferCode.ERR_METADATA);
        assertFails("7", TransferCode.ERR_METADATA);
        assertFails("{\"protocol\":\"tcp\"}", TransferCode.ERR_METADATA);
        assertFails("{\"name\":\"n\"}", TransferCode.ERR_METADATA);
        assertFails(
                "{\"name\":\"n\",\"protocol\":\"tcp\",\"tcp_data_port\":65536}",
                TransferCode.ERR_METADATA);
        assertFails("", TransferCode.ERR_MALFORMED_JSON);
        assertFails("{\"name\":", TransferCode.ERR_MALFORMED_JSON);
        assertFails("{} {}", TransferCode.ERR_MALFORMED_JSON);
    }

    @Test
    void endpoints_are_written_as_recorded() {
        RpcMeta plain = new RpcMeta("10.0.0.1", 15428, OptionalLong.empty());
        assertThat(DescriptorCodec.encode(plain))
                .isEqualTo("{\"ip_or_host_name\":\"10.0.0.1\",\"rpc_port\":15428}");
        assertThat(DescriptorCodec.decodeRpcMeta(DescriptorCodec.encode(plain), "e").orThrow())
                .isEqualTo(plain);
        RpcMeta young = new RpcMeta("::1", 1, OptionalLong.of(1796000000000L));
        assertThat(DescriptorCodec.decodeRpcMeta(DescriptorCodec.encode(young), "e").orThrow())
                .isEqualTo(young);
        assertThat(DescriptorCodec.decodeRpcMeta("{\"rpc_port\":1}", "e").isOk()).isFalse();
        assertThat(DescriptorCodec.decodeRpcMeta("{\"ip_or_host_name\":\"x\"}", "e").isOk())
                .isFalse();
        assertThat(DescriptorCodec.decodeRpcMeta("[", "e").isOk()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "host:123, host, 123",
        "host, host, 12001",
        "1.2.3.4:5, 1.2.3.4, 5",
        "[::1]:77, ::1, 77",
        "[::1], ::1, 12001",
        "::1, ::1, 12001",
        "fe80::1%eth0, fe80::1%eth0, 12001",
        "[fe80::1%eth0]:9, fe80::1%eth0, 9",
        "host:x, host, 12001",
        "host:0, host, 12001",
        "host:65536, host, 12001",
        "host:, host, 12001",
    })
    void names_are_taken_apart(String name, String host, int port) {
        assertThat(EngineName.address(name).orThrow()).isEqualTo(new HostPort(host, port));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":80", ":", "[]:80", "[]"})
    void a_name_without_a_host_is_an_invalid_argument(String name) {
        assertThat(EngineName.address(name))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed ->
                                assertThat(failed.code())
                                        .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT));
    }

    @Test
    void names_are_put_together() {
        assertThat(new HostPort("host", 1)).hasToString("host:1");
        assertThat(new HostPort("::1", 1)).hasToString("[::1]:1");
    }

    private static final String PLAIN =
            "{\"buffers\":[],\"name\":\"n\",\"protocol\":\"tcp\",\"tcp_data_port\":1,"
                    + "\"tcp_proto_version\":2,\"timestamp\":\"t\"}";

    private static final String HOST =
            "\"cassia_host\":{\"boot\":\"b-1\",\"control\":\"cassia-ab-1\","
                    + "\"pid_namespace\":4026531836,\"proof\":\"00ff\","
                    + "\"transports\":[\"shm\",\"uds\"],\"user\":1000}";

    @Test
    void ways_of_the_host_are_one_more_member_and_nothing_else_changes() {
        SegmentDescriptor plain = SegmentDescriptor.tcp("n", 1, List.of());
        HostAccess access =
                new HostAccess(
                        "b-1", 1000, 4026531836L, "cassia-ab-1", List.of("shm", "uds"), "00ff");
        SegmentDescriptor both = plain.withHost(Optional.of(access));
        String text = DescriptorCodec.encode(both, "t");
        assertThat(DescriptorCodec.encode(plain, "t")).isEqualTo(PLAIN);
        assertThat(text).isEqualTo(PLAIN.replace("\"name\"", HOST + ",\"name\""));
        assertThat(decode(text)).isEqualTo(both);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"cassia_host\":7",
                "\"cassia_host\":null",
                "\"cassia_host\":[]",
                "\"cassia_host\":{}",
                "\"cassia_host\":{\"user\":-1,\"pid_namespace\":1}",
                "\"cassia_host\":{\"user\":\"0\",\"pid_namespace\":1}"
            })
    void ways_of_the_host_that_make_no_sense_are_none(String member) {
        assertThat(decode(PLAIN.replace("\"name\"", member + ",\"name\"")).host()).isEmpty();
    }

    @Test
    void ways_of_the_host_may_lack_what_a_later_release_does_not_say() {
        String member = "\"cassia_host\":{\"user\":0,\"pid_namespace\":1,\"later\":{}},\"name\"";
        assertThat(decode(PLAIN.replace("\"name\"", member)).host())
                .contains(new HostAccess("", 0, 1, "", List.of(), ""));
    }
}
