package io.cassia.rpc;

import static io.cassia.rpc.mooncake.MasterMethods.REMOVE_BY_REGEX;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.RawPeer.Frame;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.pack.Packed;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Callers of all kinds against a server that forgets, reorders and hangs up: each call must end,
 * near its time, with its own answer or a reason.
 */
class RpcClientChaosTest {
    private static final long SEED = Long.getLong("seed", 1);
    private static final Duration TIMEOUT = Duration.ofMillis(40);
    private static final Duration SLACK = Duration.ofSeconds(20);
    private static final int CALLERS = 9;
    private static final int CALLS = 250;

    private final AtomicInteger good = new AtomicInteger();
    private final AtomicInteger timedOut = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();

    @Test
    void every_call_ends_in_time_with_its_own_answer_or_a_reason() throws Exception {
        // Closed in reverse: the threads end when client and listener are gone.
        try (ExecutorService threads = Executors.newCachedThreadPool();
                ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                RpcClient client = client(listener.getLocalPort())) {
            Future<?> _ = threads.submit(() -> serve(listener, threads));
            List<Future<?>> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                int number = i;
                callers.add(threads.submit(() -> caller(client, number)));
            }
            for (Future<?> caller : callers) {
                Object _ = caller.get(60, TimeUnit.SECONDS);
            }
        }
        assertThat(good.get() + timedOut.get() + failed.get()).isEqualTo(CALLERS * CALLS);
        assertThat(good.get()).as("seed %s", SEED).isPositive();
        assertThat(timedOut.get()).as("seed %s", SEED).isPositive();
        assertThat(failed.get()).as("seed %s", SEED).isPositive();
    }

    private static RpcClient client(int port) {
        return RpcClient.builder("127.0.0.1", port, new SimpleMeterRegistry())
                .maxInFlight(64)
                .build();
    }

    private static void serve(ServerSocket listener, ExecutorService threads) {
        Random random = new Random(SEED);
        while (true) {
            try {
                RawPeer peer = new RawPeer(listener.accept());
                long seed = random.nextLong();
                Future<?> _ = threads.submit(() -> misbehave(peer, new Random(seed)));
            } catch (IOException e) {
                // The test is over.
                return;
            }
        }
    }

    private static void misbehave(RawPeer peer, Random random) {
        List<byte[]> kept = new ArrayList<>();
        try (peer) {
            while (true) {
                Frame request = peer.readRequest();
                Args.Remove arguments = Packed.read(REMOVE_BY_REGEX.arguments(), request.body());
                long number = Long.parseLong(arguments.key().text());
                byte[] response =
                        RawPeer.response(
                                request.sequence(), REMOVE_BY_REGEX, Outcome.ok(number * 3));
                switch (random.nextInt(200)) {
                    case 0 -> {
                        return;
                    }
                    case 1 -> peer.send(new byte[20]);
                    case 2, 3, 4 -> kept.add(new byte[0]);
                    case 5, 6, 7, 8, 9, 10, 11 -> kept.add(response);
                    default -> {
                        peer.send(response);
                        if (kept.size() > 3) {
                            peer.send(kept.removeLast());
                        }
                    }
                }
            }
        } catch (IOException e) {
            // The client hung up first.
            assertThat(kept).isNotNull();
        }
    }

    private Void caller(RpcClient client, int number) throws Exception {
        switch (number % 3) {
            case 0 -> {
                for (long i = 0; i < CALLS; i++) {
                    long start = System.nanoTime();
                    check(client.call(REMOVE_BY_REGEX, argument(i), TIMEOUT), i, start);
                }
            }
            case 1 -> {
                for (long i = 0; i < CALLS; i++) {
                    long start = System.nanoTime();
                    CompletableFuture<Outcome<Outcome<Long>>> future =
                            client.callAsync(REMOVE_BY_REGEX, argument(i), TIMEOUT);
                    check(future.get(30, TimeUnit.SECONDS), i, start);
                }
            }
            default -> pipeline(client);
        }
        return null;
    }

    private void pipeline(RpcClient client) {
        RpcPipeline<Args.Remove, Outcome<Long>> pipeline =
                client.pipeline(REMOVE_BY_REGEX, 5, TIMEOUT);
        long added = 0;
        long[] seen = {0};
        while (seen[0] < CALLS) {
            while (!pipeline.isFull() && added < CALLS) {
                pipeline.add(argument(added++));
            }
            long start = System.nanoTime();
            pipeline.drain(outcome -> check(outcome, seen[0]++, start));
        }
    }

    private static Args.Remove argument(long number) {
        return new Args.Remove(ByteString.of(Long.toString(number)), false, ByteString.EMPTY);
    }

    private void check(Outcome<Outcome<Long>> outcome, long number, long startNanos) {
        assertThat(System.nanoTime() - startNanos)
                .as("seed %s", SEED)
                .isLessThan(TIMEOUT.plus(SLACK).toNanos());
        switch (RpcClient.flatten(outcome)) {
            case Outcome.Ok<Long>(Long answer) -> {
                assertThat(answer).as("seed %s", SEED).isEqualTo(number * 3);
                good.incrementAndGet();
            }
            case Outcome.Failed<Long> reason -> {
                if (reason.code() == StoreCode.RPC_TIMEOUT) {
                    timedOut.incrementAndGet();
                } else {
                    assertThat(reason.code()).as(reason.detail()).isEqualTo(StoreCode.RPC_FAIL);
                    failed.incrementAndGet();
                }
            }
        }
    }
}
