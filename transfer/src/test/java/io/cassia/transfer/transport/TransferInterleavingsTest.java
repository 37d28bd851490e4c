package io.cassia.transfer.transport;

import io.cassia.status.TransferCode;
import io.cassia.transfer.Interleavings;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A transfer is started, cancelled or given up by one alone, and ends once. */
class TransferInterleavingsTest {
    @Test
    void one_alone_decides_the_end() {
        new Interleavings(Operations.class, 0).checkBriefly(10, 200);
    }

    @Test
    @Tag("deep")
    void one_alone_decides_the_end_in_many_interleavings() {
        new Interleavings(Operations.class, 0).checkDeeply();
    }

    /** What queues, carriers, deadlines and callers do with one transfer. */
    public static final class Operations {
        private static final int THREADS = 8;
        private final AtomicInteger endings = new AtomicInteger();
        private final AtomicInteger winners = new AtomicInteger();
        private final AtomicIntegerArray started = new AtomicIntegerArray(THREADS);
        private final Transfer transfer =
                new Transfer(false, MemorySegment.NULL, 4096, 0, _ -> endings.incrementAndGet());

        @Operation
        public boolean start(@Param(gen = ThreadIdGen.class) int thread) {
            if (!transfer.tryStart()) {
                return false;
            }
            winners.incrementAndGet();
            started.set(thread, 1);
            return true;
        }

        @Operation
        public boolean finish(@Param(gen = ThreadIdGen.class) int thread) {
            if (!started.compareAndSet(thread, 1, 2)) {
                return false;
            }
            if (transfer.isUnwanted()) {
                transfer.endUnwanted();
            } else {
                transfer.complete();
            }
            return true;
        }

        @Operation
        public boolean cancel() {
            boolean won = transfer.cancel(TransferCode.ERR_SOCKET, "late", true);
            if (won) {
                winners.incrementAndGet();
            }
            return won;
        }

        @Operation
        public void giveUp() {
            transfer.giveUp(Transfer.End.CANCELED);
        }

        @Validate
        public void endsOnce() {
            if (endings.get() > 1 || winners.get() > 1) {
                throw new IllegalStateException(
                        winners.get() + " winners, " + endings.get() + " ends");
            }
            if (transfer.isEnded() != (endings.get() == 1)) {
                throw new IllegalStateException("ended, and nobody was told");
            }
        }
    }
}
