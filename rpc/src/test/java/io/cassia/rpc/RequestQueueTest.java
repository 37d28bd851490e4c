package io.cassia.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import java.nio.channels.SocketChannel;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who waits for room, and who makes it; nothing is written. A lost wake-up shows in most runs. */
class RequestQueueTest {
    private static final int ROUNDS = 50_000;
    private static final int SPINS = 2_000;
    private static final RequestQueue.Room ROOM =
            new RequestQueue.Room(true, TimeUnit.SECONDS.toNanos(30));
    private static final Args.Key KEY = new Args.Key(ByteString.of("k"), ByteString.EMPTY);

    private static RequestQueue.Added add(RequestQueue queue, ClientCall<?> call) {
        return queue.add(call, MasterMethods.EXIST_KEY, KEY, Attachment.NONE, ROOM, true);
    }

    private static ClientCall<?> call() {
        return new SilentCall<>(MasterMethods.EXIST_KEY, Long.MAX_VALUE);
    }

    /** Neither is woken up for it: both are at it within the same microsecond. */
    @SuppressWarnings("ThreadPriorityCheck") // On a busy machine the other one gets to run.
    private static void meet(AtomicInteger arrived) {
        int _ = arrived.incrementAndGet();
        for (int i = 0; arrived.get() < 2; i++) {
            if (i < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    @Test
    void who_waits_for_room_learns_of_every_end_of_a_call() throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
        try (ExecutorService threads = Executors.newSingleThreadExecutor();
                SocketChannel nowhere = SocketChannel.open()) {
            for (int round = 0; round < ROUNDS && System.nanoTime() - end < 0; round++) {
                CallTable calls = new CallTable(1);
                RequestQueue queue = new RequestQueue(nowhere, calls, 1024);
                ClientCall<?> first = call();
                assertThat(add(queue, first)).isEqualTo(RequestQueue.Added.QUEUED);
                AtomicInteger arrived = new AtomicInteger();
                Future<RequestQueue.Added> second =
                        threads.submit(
                                () -> {
                                    meet(arrived);
                                    return add(queue, call());
                                });
                meet(arrived);
                int steps = random.nextInt(200);
                for (int i = 0; i < steps; i++) {
                    int _ = arrived.get();
                }
                assertThat(calls.take(first)).isTrue();
                queue.roomMade();
                assertThat(second)
                        .as("round %d", round)
                        .succeedsWithin(20, TimeUnit.SECONDS)
                        .isEqualTo(RequestQueue.Added.QUEUED);
            }
        }
    }
}
