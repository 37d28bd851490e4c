package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.cassia.transfer.RawClient.End;
import io.cassia.transfer.metadata.DescriptorCodec;
import io.cassia.transfer.metadata.SegmentDescriptor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Bytes recorded from a C++ engine, replayed against this one. The recorded buffer starts at
 * another address, so that number is replaced in requests; everything else is compared bit by bit.
 */
final class WireVectorsTest {
    private static final long RECORDED_ADDRESS = 140280916934656L;
    private static final int BUFFER_BYTES = 65536;
    private static final String CONTENT = "TARGET-INITIAL-CONTENT-012345678";

    /**
     * A request and its answer.
     *
     * @param request bytes with the recorded address
     * @param end how the recorded connection stood after a second
     */
    private record Row(String name, String request, String reply, End end) {}

    /** Section 4 of the recording, in its order: the WRITEs feed the later READs. */
    private static final List<Row> DATA =
            List.of(
                    new Row(
                            "READ v2",
                            "1000000000000000000039b2957f00008000000000000000",
                            "000000005654434d5441524745542d494e495449414c2d43",
                            End.OPEN),
                    new Row(
                            "WRITE v2",
                            "0400000000000000280039b2957f0000810000000000000041424344",
                            "000000005654434d",
                            End.OPEN),
                    new Row(
                            "READ v1",
                            "0400000000000000280039b2957f00000000000000000000",
                            "41424344",
                            End.OPEN),
                    new Row(
                            "WRITE v1",
                            "04000000000000002c0039b2957f0000010000000000000045464748",
                            "",
                            End.OPEN),
                    new Row(
                            "READ v2 back",
                            "0800000000000000280039b2957f00008000000000000000",
                            "000000005654434d4142434445464748",
                            End.OPEN),
                    new Row(
                            "READ v2 rejected (crosses the end)",
                            "0800000000000000fcff39b2957f00008000000000000000",
                            "010000005654434d",
                            End.CLOSED),
                    new Row(
                            "WRITE v2 rejected",
                            "04000000000000000010000000000000810000000000000041424344",
                            "010000005654434d",
                            End.RESET),
                    new Row(
                            "READ v1 rejected",
                            "040000000000000000100000000000000000000000000000",
                            "",
                            End.CLOSED),
                    new Row(
                            "WRITE v1 rejected",
                            "04000000000000000010000000000000010000000000000041424344",
                            "",
                            End.RESET),
                    new Row(
                            "READ v2 size 0",
                            "0000000000000000000039b2957f00008000000000000000",
                            "010000005654434d",
                            End.CLOSED),
                    new Row(
                            "READ v2 + READ v1 pipelined on one connection",
                            "0400000000000000000039b2957f000080000000000000000400000000000000280039"
                                    + "b2957f00000000000000000000",
                            "000000005654434d5441524741424344",
                            End.OPEN),
                    new Row(
                            "opcode 0x82 (treated as READ v2)",
                            "0400000000000000000039b2957f00008200000000000000",
                            "000000005654434d54415247",
                            End.OPEN),
                    new Row(
                            "opcode 0x02 (treated as READ v1)",
                            "0400000000000000000039b2957f00000200000000000000",
                            "54415247",
                            End.OPEN));

    private static final String NO_RDMA =
            "{\"local_gid\":\"\",\"local_lid\":0,\"local_nic_path\":\"\",\"payload\":\"\","
                    + "\"peer_nic_path\":\"\",\"qp_num\":[],\"reply_msg\":\"no RDMA transport\"}\n";

    /** Section 1.2, but for type 0, whose answer gives a reason here, and metadata. */
    private static final List<Row> HANDSHAKES =
            List.of(
                    new Row(
                            "probe",
                            "0400000000000000037b7d0a",
                            "1600000000000000037b22737461747573223a2273756363657373227d0a",
                            End.CLOSED),
                    new Row(
                            "notify",
                            "2400000000000000027b226e616d65223a226e31222c226e6f746966795f6d7367223a"
                                    + "2268656c6c6f227d0a",
                            "2400000000000000027b226e616d65223a22222c226e6f746966795f6d7367223a2273"
                                    + "756363657373227d0a",
                            End.CLOSED),
                    new Row("type 4", "0400000000000000047b7d0a", "", End.CLOSED),
                    new Row("malformed JSON", "0400000000000000017b780a", "", End.CLOSED));

    /** Section 1.1: the target's answer to a metadata request. */
    private static final String DESCRIPTOR =
            "{\"buffers\":[{\"addr\":140280916934656,\"length\":65536,\"name\":\"127.0.0.1:16231\"}],"
                    + "\"name\":\"127.0.0.1:16231\",\"protocol\":\"tcp\",\"tcp_data_port\":16034,"
                    + "\"tcp_proto_version\":2,\"timestamp\":\"2026-11-29 15:49:46.167139\"}";

    private TransferEngine target;
    private Region region;

    @BeforeEach
    void start() {
        target = Peers.engine(Peers.overTcp());
        region = target.allocate(BUFFER_BYTES).orThrow();
        MemorySegment.copy(
                MemorySegment.ofArray(CONTENT.getBytes(StandardCharsets.UTF_8)),
                0,
                region.memory(),
                0,
                CONTENT.length());
        assertThat(target.register(region.memory(), BufferOptions.DEFAULT).isOk()).isTrue();
    }

    @AfterEach
    void stop() {
        target.close();
    }

    private byte[] rebased(String request) {
        String recorded = littleEndian(RECORDED_ADDRESS).substring(4);
        String text = request;
        for (String offset : List.of("0000", "2800", "2c00")) {
            long address = region.memory().address() + Integer.parseInt(offset.substring(0, 2), 16);
            text = text.replace(offset + recorded, littleEndian(address));
        }
        // The last four bytes of the buffer: the low half of the recorded address is fffc there.
        text =
                text.replace(
                        "fcff" + recorded,
                        littleEndian(region.memory().address() + BUFFER_BYTES - 4));
        return RawClient.hex(text);
    }

    private static String littleEndian(long value) {
        return HexFormat.of()
                .formatHex(
                        ByteBuffer.allocate(8)
                                .order(ByteOrder.LITTLE_ENDIAN)
                                .putLong(value)
                                .array());
    }

    @Test
    void data_requests_are_answered_as_recorded() throws IOException {
        for (Row row : DATA) {
            try (RawClient client = new RawClient(target.dataPort())) {
                client.send(rebased(row.request()));
                byte[] expected = RawClient.hex(row.reply());
                assertThat(client.receive(expected.length)).as(row.name()).isEqualTo(expected);
                End end = client.end(row.end() == End.OPEN ? 30 : 5000);
                if (row.end() == End.RESET && !row.reply().isEmpty()) {
                    // The peer's payload has been read with the header, so nothing is left that
                    // would turn the close into a reset: kinder, and the status arrives either way.
                    assertThat(end).as(row.name()).isNotEqualTo(End.OPEN);
                } else {
                    assertThat(end).as(row.name()).isEqualTo(row.end());
                }
            }
        }
    }

    @Test
    void handshakes_are_answered_as_recorded() throws IOException {
        for (Row row : HANDSHAKES) {
            assertThat(exchange(RawClient.hex(row.request())))
                    .as(row.name())
                    .isEqualTo(RawClient.hex(row.reply()));
        }
        assertThat(target.drainNotifications()).containsExactly(new Notification("n1", "hello"));
        assertThat(target.drainNotifications()).isEmpty();
    }

    @Test
    void connection_set_up_is_declined_with_a_reason_typed_and_typeless() throws IOException {
        byte[] text = NO_RDMA.getBytes(StandardCharsets.UTF_8);
        assertThat(exchange(RawClient.hex("0f00000000000000007b2271705f6e756d223a5b5d7d0a")))
                .isEqualTo(
                        RawClient.concat(
                                RawClient.hex(littleEndian(text.length + 1L)),
                                new byte[] {0},
                                text));
        assertThat(exchange(RawClient.hex("0d000000000000007b2271705f6e756d223a5b5d7d")))
                .isEqualTo(RawClient.concat(RawClient.hex(littleEndian(text.length)), text));
    }

    @Test
    void a_metadata_request_is_answered_with_the_descriptor() throws IOException {
        for (String request :
                List.of(
                        "0400000000000000017b7d0a",
                        "cf00000000000000017b2262756666657273223a5b7b2261646472223a31343032373736363"
                                + "8353630383936"
                                + "2c226c656e677468223a36353533362c226e616d65223a223132372e302e302e313a313"
                                + "5373732227d5d2c226e616d65223a223132372e302e302e313a3135373732222c227072"
                                + "6f746f636f6c223a22746370222c227463705f646174615f706f7274223a31363435382"
                                + "c227463705f70726f746f5f76657273696f6e223a322c2274696d657374616d70223a22"
                                + "323032362d31312d32392031353a34393a34362e313636393238227d0a")) {
            byte[] reply = exchange(RawClient.hex(request));
            String text = new String(reply, 9, reply.length - 9, StandardCharsets.UTF_8);
            assertThat(ByteBuffer.wrap(reply).order(ByteOrder.LITTLE_ENDIAN).getLong())
                    .isEqualTo(reply.length - 8);
            assertThat(reply[8]).isEqualTo((byte) 1);
            assertThat(text)
                    .matches(
                            "\\{\"buffers\":\\[\\{\"addr\":"
                                    + Long.toUnsignedString(region.memory().address())
                                    + ",\"length\":65536,\"name\":\""
                                    + target.localName()
                                    + "\"}],\"incarnation\":\\d+,\"name\":\""
                                    + target.localName()
                                    + "\",\"protocol\":\"tcp\",\"tcp_data_port\":"
                                    + target.dataPort()
                                    + ",\"tcp_proto_version\":2,\"timestamp\":"
                                    + "\"\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{6}\"}\n");
        }
    }

    @Test
    void a_descriptor_is_encoded_as_recorded_and_decoded_back() {
        SegmentDescriptor descriptor =
                SegmentDescriptor.tcp(
                        "127.0.0.1:16231",
                        16034,
                        List.of(
                                new SegmentDescriptor.Buffer(
                                        "127.0.0.1:16231", RECORDED_ADDRESS, 65536)));
        assertThat(DescriptorCodec.encode(descriptor, "2026-11-29 15:49:46.167139"))
                .isEqualTo(DESCRIPTOR);
        assertThat(DescriptorCodec.decode(DESCRIPTOR + "\n", "peer").orThrow())
                .isEqualTo(descriptor);
    }

    private byte[] exchange(byte[] request) throws IOException {
        try (RawClient client = new RawClient(target.rpcPort())) {
            client.send(request);
            return client.receiveAll();
        }
    }

    @Test
    void the_retyped_bytes_are_those_of_the_recording() throws IOException {
        String shared = System.getProperty("cassia.shared", "");
        Path file = Path.of(shared, "wire", "te-vectors.md");
        assumeThat(Files.exists(file)).as("recording at " + file).isTrue();
        String text = Files.readString(file);
        List<Row> rows = new ArrayList<>(DATA);
        rows.addAll(HANDSHAKES);
        for (Row row : rows) {
            String reply = row.reply().isEmpty() ? "(nothing)" : "`" + row.reply() + "`";
            assertThat(text)
                    .as(row.name())
                    .contains("| " + row.name() + " | `" + row.request() + "` | " + reply + " |");
        }
        assertThat(text).contains(DESCRIPTOR);
    }
}
