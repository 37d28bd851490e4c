package io.cassia.rpc.pack;

import static io.cassia.rpc.pack.Packed.bytes;
import static io.cassia.rpc.pack.Packed.hex;
import static io.cassia.rpc.pack.Packed.read;
import static io.cassia.rpc.pack.Packed.shortForm;
import static io.cassia.rpc.pack.Packed.withLiteral;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.ByteString;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Bodies against the golden vectors of the specification (mooncake-store 11.2). */
class WireBodyTest {
    private record Pair<A, B>(A first, B second) {}

    private static <A, B> WireType<Pair<A, B>> pair(WireType<A> first, WireType<B> second) {
        return WireType.struct(
                r -> new Pair<>(first.read(r), second.read(r)),
                (w, v) -> {
                    first.write(w, v.first());
                    second.write(w, v.second());
                },
                first,
                second);
    }

    private static <T> void golden(WireType<T> type, T value, String literal, String body) {
        WireBody<T> packed = WireBody.of(type);
        assertThat(hex(type.literal().array())).isEqualTo(literal.replace(" ", ""));
        assertThat(hex(shortForm(packed, value))).isEqualTo(body.replace(" ", ""));
        assertThat(read(packed, bytes(body))).isEqualTo(value);
        assertThat(read(packed, withLiteral(packed, value))).isEqualTo(value);
    }

    @Test
    void strings_are_golden() {
        golden(WireType.STRING, "abc", "80 0c", "76facf9d 03 616263");
        golden(WireType.BYTES, ByteString.of("abc"), "80 0c", "76facf9d 03 616263");
        golden(WireType.STRING, "x".repeat(260), "80 0c", "77facf9d 08 0401" + "78".repeat(260));
    }

    @Test
    void expected_is_golden() {
        golden(WireType.expected(WireType.BOOL), Outcome.ok(true), "87 0b 01", "d200e890 01 01");
        golden(
                WireType.expected(WireType.MONOSTATE),
                Outcome.failed(
                        StoreCode.OBJECT_NOT_FOUND, "the peer answered OBJECT_NOT_FOUND(-704)"),
                "87 fa 01",
                "cc6828af 00 40fdffff");
        golden(WireType.expected(WireType.MONOSTATE), Outcome.done(), "87 fa 01", "cc6828af 01");
    }

    @Test
    void containers_are_golden() {
        golden(
                WireType.list(WireType.STRING),
                List.of("a", "bb"),
                "84 80 0c",
                "1ae1868a 02 0161 026262");
        golden(
                WireType.map(WireType.STRING, WireType.I64),
                Map.of("k", 9L),
                "82 80 0c 03",
                "ceda2310 01 016b 0900000000000000");
        golden(WireType.OPTIONAL_U64, OptionalLong.of(5), "85 04", "1a698158 01 0500000000000000");
    }

    @Test
    void tuples_and_structs_are_golden() {
        golden(
                pair(WireType.STRING, WireType.STRING),
                new Pair<>("a", "bb"),
                "fd 80 0c 80 0c ff",
                "d81ef97c 0161 026262");
        golden(
                pair(WireType.U64, WireType.STRING),
                new Pair<>(7L, "q"),
                "fd 04 80 0c ff",
                "3c02e2fc 0700000000000000 01 71");
        golden(
                pair(WireType.I64, WireType.I32),
                new Pair<>(5L, 1),
                "fd 03 01 ff",
                "ee3f4bf4 0500000000000000 01000000");
    }

    @Test
    void raw_aggregates_are_golden() {
        golden(
                WireType.aggregate(
                        r -> new Pair<>(r.i64(), r.i64()),
                        (w, v) -> {
                            w.i64(v.first());
                            w.i64(v.second());
                        },
                        WireType.U64,
                        WireType.U64),
                new Pair<>(1L, 2L),
                "fd 04 04 89 89 ff",
                "e0836d3c 0100000000000000 0200000000000000");
        golden(
                padded(WireType.I64, WireType.I32),
                new Pair<Object, Object>(5L, 1),
                "fd 03 01 89 89 ff",
                "e43cf8fb 0500000000000000 01000000 00000000");
    }

    private static WireType<Pair<Object, Object>> padded(WireType<?> first, WireType<?> second) {
        return WireType.paddedAggregate(
                values -> new Pair<>(values[0], values[1]),
                pair -> new Object[] {pair.first(), pair.second()},
                first,
                second);
    }

    @Test
    void variant_is_golden() {
        golden(
                WireType.<Object>variant(
                        value -> value instanceof Integer ? 0 : 1,
                        List.of(WireType.I32, WireType.STRING)),
                "z",
                "86 01 80 0c ff",
                "e61e2048 01 01 7a");
    }

    @Test
    void padding_is_ignored_when_read() {
        WireBody<Pair<Object, Object>> body = WireBody.of(padded(WireType.U8, WireType.I32));
        byte[] bytes = shortForm(body, new Pair<Object, Object>(7, 9));
        assertThat(hex(bytes)).endsWith("07000000" + "09000000");
        bytes[5] = 1;
        bytes[7] = 3;
        assertThat(read(body, bytes)).isEqualTo(new Pair<Object, Object>(7, 9));
    }

    @Test
    void an_aggregate_with_gaps_needs_padding() {
        assertThatThrownBy(
                        () ->
                                WireType.aggregate(
                                        WireReader::i64,
                                        WireWriter::i64,
                                        WireType.I64,
                                        WireType.I32))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void sizes_in_literals_have_digits_of_base_127() {
        assertThat(hex(TypeLiteral.size(8).array())).isEqualTo("89");
        assertThat(hex(TypeLiteral.size(0).array())).isEqualTo("81");
        assertThat(hex(TypeLiteral.size(126).array())).isEqualTo("ff");
        assertThat(hex(TypeLiteral.size(127).array())).isEqualTo("0182");
    }

    @Test
    void any_width_and_both_forms_are_read() {
        WireBody<String> body = WireBody.of(WireType.STRING);
        assertThat(read(body, bytes("77facf9d 00 0161"))).isEqualTo("a");
        assertThat(read(body, bytes("77facf9d 08 0100 61"))).isEqualTo("a");
        assertThat(read(body, bytes("77facf9d 10 01000000 61"))).isEqualTo("a");
        assertThat(read(body, bytes("77facf9d 18 0100000000000000 61"))).isEqualTo("a");
        assertThat(read(body, bytes("77facf9d 04 800c00 0161"))).isEqualTo("a");
        assertThat(read(body, bytes("77facf9d 14 800c00 01000000 61"))).isEqualTo("a");
        assertThat(read(body, bytes("76facf9d 0161 ffff"))).isEqualTo("a");
    }

    @Test
    void the_width_is_the_narrowest_that_fits_the_longest_container() {
        WireBody<List<String>> body = WireBody.of(WireType.list(WireType.STRING));
        for (int length : new int[] {0, 255, 256, 65_535, 65_536}) {
            List<String> value = List.of("a", "x".repeat(length), "b");
            byte[] bytes = withLiteral(body, value);
            int meta = length < 256 ? 0x04 : length < 65_536 ? 0x0c : 0x14;
            assertThat(bytes[4]).as("length %s", length).isEqualTo((byte) meta);
            assertThat(read(body, bytes)).isEqualTo(value);
        }
    }

    @Test
    void what_is_not_a_body_is_refused() {
        WireBody<String> body = WireBody.of(WireType.STRING);
        for (String hex :
                List.of(
                        "",
                        "76fa",
                        "76facf9d",
                        "76facf9c 0161",
                        "77facf9d",
                        "77facf9d 01 0161",
                        "77facf9d 80 0161",
                        "77facf9d 04 800b00 0161",
                        "77facf9d 04 800c01 0161",
                        "77facf9d 04 80",
                        "76facf9d 0261",
                        "77facf9d 10 ffffffff 61",
                        "77facf9d 18 ffffffffffffffff 61",
                        "77facf9d 18 0000000001000000 61",
                        "76facf9d 01ff")) {
            assertThatThrownBy(() -> read(body, bytes(hex)))
                    .as("body %s", hex)
                    .isInstanceOf(MalformedBodyException.class);
        }
    }

    @Test
    void a_count_is_believed_only_with_the_bytes_for_it() {
        WireBody<List<Long>> body = WireBody.of(WireType.list(WireType.U64));
        int head = body.hash();
        WireWriter writer = new WireWriter(0, 64);
        writer.i32(head | 1);
        writer.i8(0x10);
        writer.i32(0x7fff_ffff);
        writer.i64(1);
        byte[] bytes = java.util.Arrays.copyOf(writer.array(), writer.position());
        assertThatThrownBy(() -> read(body, bytes))
                .isInstanceOf(MalformedBodyException.class)
                .hasMessageContaining("2147483647");
    }

    @Test
    void elements_without_bytes_make_no_container() {
        assertThatThrownBy(() -> WireType.list(WireType.MONOSTATE))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void text_for_people_survives_bad_utf8() {
        assertThat(read(WireBody.of(WireType.TEXT), bytes("76facf9d 0361ff62")))
                .isEqualTo("a\ufffdb");
        assertThat(read(WireBody.of(WireType.STRING), bytes("76facf9d 03efbfbd")))
                .isEqualTo("\ufffd");
    }

    @Test
    void a_failure_without_a_number_is_still_a_failure() {
        Outcome<Boolean> outcome =
                read(WireBody.of(WireType.expected(WireType.BOOL)), bytes("d200e890 00 00000000"));
        assertThat(((Outcome.Failed<Boolean>) outcome).code()).isEqualTo(StoreCode.INTERNAL_ERROR);
    }

    @Test
    void details_travel_beside_the_body_in_its_order() {
        WireBody<List<Outcome<Boolean>>> body =
                WireBody.of(WireType.list(WireType.expected(WireType.BOOL)));
        List<Outcome<Boolean>> value =
                List.of(
                        Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "key a"),
                        Outcome.ok(true),
                        Outcome.failed(StoreCode.INVALID_KEY, "key b \u00e9"));
        FailureDetails collected = FailureDetails.limitedTo(1000);
        WireWriter writer = new WireWriter(16, 1000);
        writer.collect(collected);
        body.write(writer, value);

        WireReader reader = new WireReader().reset(writer.array(), 0, writer.position());
        reader.from("test", FailureDetails.parse(collected.toBytes()));
        assertThat(body.read(reader)).isEqualTo(value);

        reader.reset(writer.array(), 0, writer.position()).from("ExistKey", null);
        assertThat(((Outcome.Failed<Boolean>) body.read(reader).get(2)).detail())
                .isEqualTo("ExistKey answered INVALID_KEY(-400)");
    }

    @Test
    void details_are_collected_once_when_a_body_is_written_again_wider() {
        WireBody<List<Outcome<String>>> body =
                WireBody.of(WireType.list(WireType.expected(WireType.STRING)));
        List<Outcome<String>> value =
                List.of(
                        Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "first"),
                        Outcome.ok("x".repeat(70_000)),
                        Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "second"));
        FailureDetails collected = FailureDetails.limitedTo(1000);
        WireWriter writer = new WireWriter(16, 1 << 20);
        writer.collect(collected);
        body.write(writer, value);
        FailureDetails received = FailureDetails.parse(collected.toBytes());
        assertThat(List.of(received.next(), received.next(), received.next()))
                .containsExactly("first", "second", "");
    }

    @Test
    void details_stop_at_their_limit_and_a_broken_list_is_as_good_as_none() {
        FailureDetails collected = FailureDetails.limitedTo(20);
        collected.add("0123456789");
        collected.add("0123456789");
        collected.add("x");
        FailureDetails received = FailureDetails.parse(collected.toBytes());
        assertThat(received.next()).isEqualTo("0123456789");
        assertThat(received.next()).isEmpty();
        assertThat(FailureDetails.parse(bytes("0500 6162")).next()).isEmpty();
        collected.clear();
        collected.add("y");
        assertThat(FailureDetails.parse(collected.toBytes()).next()).isEqualTo("y");
    }

    @Test
    void a_body_over_the_limit_is_refused() {
        WireWriter writer = new WireWriter(16, 100);
        assertThatThrownBy(() -> WireBody.of(WireType.STRING).write(writer, "x".repeat(200)))
                .isInstanceOf(BodyTooLargeException.class);
    }
}
