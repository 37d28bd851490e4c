package io.cassia.transfer.memory;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.Interleavings;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The table of registered ranges behaves as if one thread used it at a time. */
class BufferTableInterleavingsTest {
    @Test
    void operations_are_as_if_one_after_the_other() {
        new Interleavings(Operations.class, 2).checkBriefly(4, 100);
    }

    @Test
    @Tag("deep")
    void operations_are_as_if_one_after_the_other_in_many_interleavings() {
        new Interleavings(Operations.class, 2).checkDeeply();
    }

    /**
     * What engines and peers do: register, hold for a transfer, let go, drain, forget. The two
     * ranges overlap. Each thread has at most one transfer on each.
     */
    @Param(name = "range", gen = IntGen.class, conf = "0:1")
    public static final class Operations {
        private static final int THREADS = 8;
        private final BufferTable table = new BufferTable();
        private final List<Registration> drained = new CopyOnWriteArrayList<>();
        private final AtomicReferenceArray<Registration> held =
                new AtomicReferenceArray<>(2 * THREADS);

        private static long address(int range) {
            return 0x10000 + 32L * range;
        }

        @Operation
        public boolean register(@Param(name = "range") int range) {
            return table.add(
                            MemorySegment.ofAddress(address(range)).reinterpret(64),
                            "*",
                            true,
                            true)
                    .isOk();
        }

        @Operation
        public boolean hold(
                @Param(gen = ThreadIdGen.class) int thread, @Param(name = "range") int range) {
            int slot = 2 * thread + range;
            if (held.get(slot) != null) {
                return false;
            }
            // Bytes that only this one of the two ranges has.
            held.set(slot, table.hold(address(range) + 40L * range, 8, true));
            return held.get(slot) != null;
        }

        @Operation
        public boolean release(
                @Param(gen = ThreadIdGen.class) int thread, @Param(name = "range") int range) {
            Registration using = held.getAndSet(2 * thread + range, null);
            if (using == null) {
                return false;
            }
            if (using.state() == Registration.State.CLOSED) {
                throw new IllegalStateException("closed under a transfer");
            }
            using.release();
            return true;
        }

        @Operation
        public void drain(@Param(name = "range") int range) {
            table.startingAt(address(range))
                    .ifPresent(
                            found -> {
                                // First: who forgets must know of all that may be closed.
                                drained.add(found);
                                Outcome<Done> _ = table.drain(found);
                            });
        }

        @Operation
        public void forget() {
            for (Registration range : drained) {
                if (range.state() == Registration.State.CLOSED) {
                    table.remove(range);
                }
            }
        }

        @Operation
        public int published() {
            return table.registered().size();
        }
    }
}
