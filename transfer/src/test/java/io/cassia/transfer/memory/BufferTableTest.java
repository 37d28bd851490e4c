package io.cassia.transfer.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class BufferTableTest {
    private final BufferTable table = new BufferTable();

    /** A range that is only looked up, never touched. */
    private static MemorySegment at(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }

    private Registration add(long address, long length) {
        return table.add(at(address, length), "*", true, true).orThrow();
    }

    private boolean holds(long address, long size) {
        Registration found = table.hold(address, size, true);
        if (found != null) {
            found.release();
        }
        return found != null;
    }

    private Object codeOf(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : TransferCode.OK;
    }

    @Test
    void a_range_holds_its_bytes_and_no_others() {
        add(0x10000, 0x1000);
        assertThat(holds(0x10000, 0x1000)).isTrue();
        assertThat(holds(0x10000, 1)).isTrue();
        assertThat(holds(0x10fff, 1)).isTrue();
        assertThat(holds(0x10ffc, 4)).isTrue();
        assertThat(holds(0x10ffc, 5)).isFalse();
        assertThat(holds(0xffff, 1)).isFalse();
        assertThat(holds(0xffff, 2)).isFalse();
        assertThat(holds(0x11000, 1)).isFalse();
        assertThat(holds(0x10000, 0x1001)).isFalse();
        assertThat(holds(0x10000, 0)).isFalse();
        assertThat(holds(0x10001, -1L)).isFalse();
        assertThat(holds(0x10000, Long.MIN_VALUE)).isFalse();
    }

    @Test
    void an_empty_table_holds_nothing() {
        assertThat(holds(0x10000, 1)).isFalse();
        assertThat(table.why(0x10000, 1, false)).isEqualTo(Rejection.NOT_REGISTERED);
    }

    @Test
    void touching_ranges_do_not_combine() {
        add(0x10000, 0x1000);
        add(0x11000, 0x1000);
        assertThat(holds(0x10ffe, 2)).isTrue();
        assertThat(holds(0x11000, 2)).isTrue();
        assertThat(holds(0x10fff, 2)).isFalse();
        assertThat(table.why(0x10fff, 2, false)).isEqualTo(Rejection.CROSSES_END);
    }

    @Test
    void addresses_are_unsigned() {
        add(0x1000, 0x1000);
        add(0x8000_0000_0000_0000L, 0x1000);
        add(0xffff_ffff_ffff_f000L, 0x1000);
        assertThat(holds(0x8000_0000_0000_0000L, 0x1000)).isTrue();
        assertThat(holds(0xffff_ffff_ffff_ffffL, 1)).isTrue();
        assertThat(holds(0xffff_ffff_ffff_ffffL, 2)).isFalse();
        assertThat(table.why(0xffff_ffff_ffff_ffffL, 2, false)).isEqualTo(Rejection.WRAPS_AROUND);
        assertThat(holds(0x1000, 1)).isTrue();
    }

    @Test
    void overlapping_ranges_are_refused_and_adjacent_ones_accepted() {
        add(0x10000, 0x1000);
        for (long[] range :
                new long[][] {
                    {0x10000, 0x1000},
                    {0x10800, 1},
                    {0xf000, 0x1001},
                    {0x10fff, 10},
                    {0xf000, 0x9000}
                }) {
            assertThat(codeOf(table.add(at(range[0], range[1]), "*", true, true)))
                    .isEqualTo(TransferCode.ERR_ADDRESS_OVERLAPPED);
        }
        add(0xf000, 0x1000);
        add(0x11000, 0x1000);
        assertThat(table.registered()).hasSize(3);
    }

    @Test
    void ranges_without_bytes_on_the_heap_or_of_one_thread_are_refused() {
        try (Arena confined = Arena.ofConfined()) {
            for (MemorySegment memory :
                    List.of(
                            at(0x10000, 0),
                            MemorySegment.NULL.reinterpret(10),
                            MemorySegment.ofArray(new byte[10]),
                            confined.allocate(10))) {
                assertThat(codeOf(table.add(memory, "*", true, true)))
                        .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
            }
        }
    }

    @Test
    void a_range_that_is_drained_refuses_transfers_and_waits_for_those_in_progress() {
        Registration range = add(0x10000, 0x1000);
        Registration held = table.hold(0x10000, 10, false);
        assertThat(held).isSameAs(range);
        assertThat(table.drain(range).isOk()).isTrue();
        assertThat(range.state()).isEqualTo(Registration.State.DRAINING);
        assertThat(holds(0x10000, 10)).isFalse();
        assertThat(table.why(0x10000, 10, false)).isEqualTo(Rejection.DRAINING);
        assertThat(table.awaitClosed(range, 1)).isFalse();
        assertThatThrownBy(() -> table.remove(range)).isInstanceOf(IllegalStateException.class);
        // Its addresses are taken until the transfer has ended.
        assertThat(codeOf(table.add(at(0x10000, 1), "*", true, true)))
                .isEqualTo(TransferCode.ERR_ADDRESS_OVERLAPPED);
        range.release();
        assertThat(table.awaitClosed(range, 1)).isTrue();
        table.remove(range);
        assertThat(range.state()).isEqualTo(Registration.State.CLOSED);
        add(0x10000, 0x1000);
    }

    @Test
    void a_drained_range_wakes_who_waits_for_its_last_transfer() throws InterruptedException {
        Registration range = add(0x10000, 0x1000);
        assertThat(range.tryHold()).isTrue();
        assertThat(table.drain(range).isOk()).isTrue();
        Thread releaser = Thread.ofPlatform().start(range::release);
        assertThat(table.awaitClosed(range, 10_000_000_000L)).isTrue();
        releaser.join();
    }

    @Test
    void releasing_more_often_than_holding_is_a_bug() {
        Registration range = add(0x10000, 0x1000);
        assertThatThrownBy(range::release).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void permissions_are_enforced_with_their_reason() {
        assertThat(table.add(at(0x10000, 16), "*", true, false).isOk()).isTrue();
        assertThat(table.add(at(0x20000, 16), "*", false, false).isOk()).isTrue();
        assertThat(table.add(at(0x30000, 16).asReadOnly(), "*", true, true).isOk()).isTrue();
        assertThat(table.hold(0x10000, 16, true)).isNull();
        assertThat(table.why(0x10000, 16, true)).isEqualTo(Rejection.READ_ONLY);
        assertThat(table.hold(0x10000, 16, false)).isNotNull();
        assertThat(table.hold(0x20000, 16, false)).isNull();
        assertThat(table.why(0x20000, 16, false)).isEqualTo(Rejection.NOT_ACCESSIBLE);
        assertThat(table.hold(0x30000, 16, true)).isNull();
    }

    @Test
    void it_agrees_with_a_naive_model() {
        long seed = Long.getLong("seed", 1);
        Random random = new Random(seed);
        List<Registration> model = new ArrayList<>();
        for (int step = 0; step < 20_000; step++) {
            long address = 0x1000L + random.nextInt(400);
            long length = 1L + random.nextInt(30);
            int action = random.nextInt(10);
            if (action < 3) {
                boolean overlaps =
                        model.stream()
                                .anyMatch(
                                        r ->
                                                r.address() < address + length
                                                        && address < r.address() + r.lengthBytes());
                Outcome<Registration> added = table.add(at(address, length), "*", true, true);
                assertThat(added.isOk()).as("seed %d step %d", seed, step).isEqualTo(!overlaps);
                if (added instanceof Outcome.Ok<Registration>(Registration range)) {
                    model.add(range);
                }
            } else if (action < 5 && !model.isEmpty()) {
                Registration gone = model.remove(random.nextInt(model.size()));
                assertThat(table.drain(gone).isOk()).isTrue();
                table.remove(gone);
            } else {
                boolean inside =
                        model.stream()
                                .anyMatch(
                                        r ->
                                                r.address() <= address
                                                        && address + length
                                                                <= r.address() + r.lengthBytes());
                assertThat(holds(address, length))
                        .as("seed %d step %d", seed, step)
                        .isEqualTo(inside);
            }
        }
        assertThat(table.registered()).containsExactlyElementsOf(model);
    }
}
