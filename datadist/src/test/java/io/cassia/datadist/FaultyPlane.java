package io.cassia.datadist;

import io.cassia.datadist.memory.DataPlane;
import io.cassia.datadist.memory.PlaneMemory;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferRequest;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Guarded. A data plane whose transfers stop, fail or come late when a test says so. */
final class FaultyPlane implements DataPlane {
    /** What happens with transfers. */
    enum Mode {
        /** They work. */
        NORMAL,
        /** They wait at the gate, or for their deadline, and work then. */
        GATED,
        /** They wait at the gate whatever their deadline says, and work then. */
        STUBBORN,
        /** Nothing moves until the deadline has passed; then they fail. */
        STUCK,
        /** They fail at once. */
        FAILING,
        /** They work, but only after their deadline. */
        LATE
    }

    private final DataPlane real;
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicLong requests = new AtomicLong();
    private volatile Mode mode = Mode.NORMAL;
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile CountDownLatch arrived = new CountDownLatch(0);

    FaultyPlane(DataPlane real) {
        this.real = real;
    }

    void set(Mode next) {
        mode = next;
    }

    /** Closes the gate for the transfers to come. */
    void closeGate() {
        closeGate(Mode.GATED);
    }

    void closeGate(Mode how) {
        gate = new CountDownLatch(1);
        arrived = new CountDownLatch(1);
        mode = how;
    }

    /** Returns when a transfer stands at the gate. */
    void awaitArrival() {
        try {
            if (!arrived.await(Clusters.LONG.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError("no transfer came to the gate");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    void openGate() {
        mode = Mode.NORMAL;
        gate.countDown();
    }

    int calls() {
        return calls.get();
    }

    long requests() {
        return requests.get();
    }

    @Override
    public List<Outcome<Done>> transfer(List<TransferRequest> list, Duration deadline) {
        calls.incrementAndGet();
        requests.addAndGet(list.size());
        return switch (mode) {
            case NORMAL -> real.transfer(list, deadline);
            case GATED -> {
                arrived.countDown();
                pause(gate, deadline);
                yield real.transfer(list, Clusters.LONG);
            }
            case STUBBORN -> {
                arrived.countDown();
                pause(gate, Clusters.LONG);
                yield real.transfer(list, Clusters.LONG);
            }
            case STUCK -> {
                pause(new CountDownLatch(1), deadline.plusMillis(1));
                yield failed(list, "stuck");
            }
            case FAILING -> failed(list, "the cable is out");
            case LATE -> {
                pause(new CountDownLatch(1), deadline.plusMillis(20));
                yield real.transfer(list, Clusters.LONG);
            }
        };
    }

    private static void pause(CountDownLatch until, Duration atMost) {
        try {
            boolean _ = until.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Outcome<Done>> failed(List<TransferRequest> list, String why) {
        Outcome<Done> failure = Outcome.failed(TransferCode.ERR_SOCKET, why);
        return list.stream().map(request -> failure).toList();
    }

    @Override
    public String localName() {
        return real.localName();
    }

    @Override
    public Outcome<PlaneMemory> allocate(long bytes) {
        return real.allocate(bytes);
    }

    @Override
    public Outcome<PlaneMemory> register(MemorySegment memory) {
        return real.register(memory);
    }

    @Override
    public Outcome<SegmentHandle> open(String name) {
        return real.open(name);
    }

    @Override
    public void letGo(SegmentHandle segment) {
        real.letGo(segment);
    }

    @Override
    public void close() {
        real.close();
    }
}
