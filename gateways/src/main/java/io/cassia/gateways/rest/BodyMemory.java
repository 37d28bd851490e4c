package io.cassia.gateways.rest;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The memory that bodies of requests and answers lie in, limited in sum. Guarded by a fair
 * semaphore: who comes first is served first, so that large bodies are not starved by small ones.
 */
final class BodyMemory {
    /** What is accounted: a semaphore counts in an int. */
    private static final int UNIT = 4096;

    private static final int ALIGNMENT = 64;

    private final long capacityBytes;
    private final Duration patience;
    private final Semaphore units;
    private final Runnable onRefusal;

    /**
     * @param patience how long a request waits for others to finish
     * @param onRefusal told of each request that waited in vain
     */
    BodyMemory(long capacityBytes, Duration patience, Runnable onRefusal) {
        this.capacityBytes = capacityBytes;
        this.patience = patience;
        this.units = new Semaphore(units(capacityBytes), true);
        this.onRefusal = onRefusal;
    }

    private static int units(long bytes) {
        return Math.toIntExact(Math.min(Integer.MAX_VALUE, (bytes + UNIT - 1) / UNIT));
    }

    long capacityBytes() {
        return capacityBytes;
    }

    long usedBytes() {
        return (units(capacityBytes) - units.availablePermits()) * (long) UNIT;
    }

    /** Memory of one body. Confined to its request. */
    static final class Body implements AutoCloseable {
        private final Arena arena = Arena.ofShared();
        private final MemorySegment memory;
        private final Semaphore units;
        private final int taken;

        private Body(long bytes, Semaphore units, int taken) {
            this.memory = arena.allocate(bytes, ALIGNMENT);
            this.units = units;
            this.taken = taken;
        }

        MemorySegment memory() {
            return memory;
        }

        @Override
        public void close() {
            arena.close();
            units.release(taken);
        }
    }

    /** Waits for room within the patience; BUFFER_OVERFLOW when none came or it never fits. */
    Outcome<Body> take(long bytes) {
        return take(bytes, patience);
    }

    /** The same without waiting: for a request that holds room already. */
    Outcome<Body> takeMore(long bytes) {
        return take(bytes, Duration.ZERO);
    }

    private Outcome<Body> take(long bytes, Duration wait) {
        if (bytes > capacityBytes) {
            return Outcome.failed(
                    StoreCode.BUFFER_OVERFLOW,
                    "a body of %d bytes does not fit into the buffers of %d bytes"
                            .formatted(bytes, capacityBytes));
        }
        int wanted = units(bytes);
        try {
            if (!units.tryAcquire(wanted, wait.toNanos(), TimeUnit.NANOSECONDS)) {
                onRefusal.run();
                return Outcome.failed(
                        StoreCode.BUFFER_OVERFLOW,
                        "%d of %d bytes of buffers are in use by other requests, %d more are needed"
                                .formatted(usedBytes(), capacityBytes, bytes));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(StoreCode.BUFFER_OVERFLOW, "interrupted waiting for buffers");
        }
        return allocate(bytes, wanted);
    }

    private Outcome<Body> allocate(long bytes, int wanted) {
        boolean allocated = false;
        try {
            Body body = new Body(bytes, units, wanted);
            allocated = true;
            return Outcome.ok(body);
        } catch (OutOfMemoryError e) {
            return Outcome.failed(
                    StoreCode.BUFFER_OVERFLOW,
                    "this machine has no %d bytes for a body: %s".formatted(bytes, e.getMessage()));
        } finally {
            if (!allocated) {
                units.release(wanted);
            }
        }
    }
}
