package io.cassia.rpc;

import static io.cassia.rpc.Eventually.count;
import static io.cassia.rpc.Eventually.counted;
import static io.cassia.rpc.Eventually.until;
import static io.cassia.rpc.mooncake.MasterMethods.BATCH_EXIST_KEY;
import static io.cassia.rpc.mooncake.MasterMethods.EXIST_KEY;
import static io.cassia.rpc.mooncake.MasterMethods.REMOVE_BY_REGEX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.rpc.RawPeer.Frame;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.rpc.pack.Packed;
import io.cassia.rpc.pack.WireBody;
import io.cassia.rpc.pack.WireType;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The client against our server, and against peers that are scripted byte by byte. */
class RpcClientTest {
    private static final String EVENTS = "cassia.rpc.client.events";
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final ByteString TENANT = ByteString.of("default");

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private static Args.Key key(String text) {
        return new Args.Key(ByteString.of(text), TENANT);
    }

    private RpcServer.Builder exist() {
        return RpcServer.builder(metrics)
                .register(EXIST_KEY, key -> Outcome.ok(key.key().length() % 2 == 1));
    }

    private RpcClient client(int port) {
        return RpcClient.builder("127.0.0.1", port, metrics).build();
    }

    private static ServerSocket listen() throws Exception {
        return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    private static void assertFailed(Outcome<?> outcome, Code code, String... words) {
        assertThat(outcome).isInstanceOf(Outcome.Failed.class);
        Outcome.Failed<?> failed = (Outcome.Failed<?>) outcome;
        assertThat(failed.code()).as(failed.detail()).isEqualTo(code);
        for (String word : words) {
            assertThat(failed.detail()).contains(word);
        }
    }

    @Test
    void a_request_that_nobody_waits_for_stands_before_the_next_one_or_leaves_alone()
            throws Exception {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        RpcServer.Builder builder =
                RpcServer.builder(metrics)
                        .register(
                                EXIST_KEY,
                                key -> {
                                    seen.add(key.key().text());
                                    return Outcome.ok(true);
                                });
        try (RpcServer server = builder.start().orThrow();
                RpcClient client = client(server.port())) {
            for (int i = 0; i < 100; i++) {
                client.callSoon(EXIST_KEY, key("soon" + i), LONG);
                client.call(EXIST_KEY, key("next" + i), LONG).orThrow();
                assertThat(seen.poll()).isEqualTo("soon" + i);
                assertThat(seen.poll()).isEqualTo("next" + i);
            }
            client.callSoon(EXIST_KEY, key("alone"), LONG);
            assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("alone");
        }
    }

    @Test
    void a_request_that_nobody_waits_for_leaves_while_an_asynchronous_one_is_in_flight()
            throws Exception {
        try (ServerSocket silent = listen();
                RpcClient client = client(silent.getLocalPort())) {
            CompletableFuture<?> never = client.callAsync(EXIST_KEY, key("never"), LONG);
            client.callSoon(EXIST_KEY, key("soon"), LONG);
            try (Socket peer = silent.accept()) {
                peer.setSoTimeout((int) LONG.toMillis());
                StringBuilder seen = new StringBuilder();
                while (seen.indexOf("soon") < 0) {
                    int read = peer.getInputStream().read();
                    assertThat(read).as(seen.toString()).isNotNegative();
                    seen.append((char) read);
                }
                assertThat(seen.toString()).contains("never");
            }
            assertThat(never.get(20, TimeUnit.SECONDS)).isInstanceOf(Outcome.Failed.class);
        }
    }

    @Test
    void a_call_returns_what_the_handler_returned() {
        try (RpcServer server = exist().start().orThrow();
                RpcClient client = client(server.port())) {
            assertThat(client.call(EXIST_KEY, key("a"), LONG).orThrow())
                    .isEqualTo(Outcome.ok(true));
            assertThat(client.callExpected(EXIST_KEY, key("ab"), LONG))
                    .isEqualTo(Outcome.ok(false));
        }
    }

    @Test
    void an_unknown_method_is_told_apart_from_other_failures() {
        try (RpcServer server = exist().start().orThrow();
                RpcClient client = client(server.port())) {
            assertThat(client.callIfRegistered(CassiaMethods.HELLO, Uuid.ZERO, LONG))
                    .isEqualTo(Outcome.ok(Optional.empty()));
            assertThat(client.callIfRegistered(EXIST_KEY, key("a"), LONG))
                    .isEqualTo(Outcome.ok(Optional.of(Outcome.ok(true))));
            assertFailed(
                    client.call(CassiaMethods.HELLO, Uuid.ZERO, LONG),
                    StoreCode.RPC_FAIL,
                    "Hello",
                    "not registered",
                    "11");
        }
    }

    @Test
    void details_of_failures_come_if_asked_for() {
        RpcServer.Builder builder =
                RpcServer.builder(metrics)
                        .register(
                                BATCH_EXIST_KEY,
                                keys ->
                                        keys.keys().stream()
                                                .map(RpcClientTest::noSuchKey)
                                                .toList());
        try (RpcServer server = builder.start().orThrow();
                RpcClient client = client(server.port())) {
            Args.Keys keys =
                    new Args.Keys(
                            List.of(ByteString.of("a"), ByteString.of("good"), ByteString.of("b")),
                            TENANT);
            List<Outcome<Boolean>> plain = client.call(BATCH_EXIST_KEY, keys, LONG).orThrow();
            assertFailed(
                    plain.get(0),
                    StoreCode.OBJECT_NOT_FOUND,
                    "BatchExistKey answered OBJECT_NOT_FOUND(-704)");
            client.failureDetails(true);
            List<Outcome<Boolean>> told = client.call(BATCH_EXIST_KEY, keys, LONG).orThrow();
            assertFailed(told.get(0), StoreCode.OBJECT_NOT_FOUND, "no key a");
            assertThat(told.get(1)).isEqualTo(Outcome.ok(true));
            assertFailed(told.get(2), StoreCode.OBJECT_NOT_FOUND, "no key b");
            client.failureDetails(false);
            assertThat(client.call(BATCH_EXIST_KEY, keys, LONG).orThrow()).isEqualTo(plain);
        }
    }

    private static Outcome<Boolean> noSuchKey(ByteString key) {
        return key.length() > 1
                ? Outcome.ok(true)
                : Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "no key " + key);
    }

    @Test
    void replies_find_their_calls_in_any_order() throws Exception {
        try (ServerSocket listener = listen();
                RpcClient client = client(listener.getLocalPort())) {
            List<CompletableFuture<Outcome<Outcome<Long>>>> calls = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Args.Remove arguments = new Args.Remove(ByteString.of("" + i), false, TENANT);
                calls.add(client.callAsync(REMOVE_BY_REGEX, arguments, LONG));
            }
            try (RawPeer peer = new RawPeer(listener.accept())) {
                List<Frame> requests = new ArrayList<>();
                for (int i = 0; i < calls.size(); i++) {
                    requests.add(peer.readRequest());
                    assertThat(requests.get(i).sequence()).isEqualTo(i);
                }
                Collections.reverse(requests);
                for (Frame request : requests) {
                    Args.Remove arguments =
                            Packed.read(REMOVE_BY_REGEX.arguments(), request.body());
                    long number = Long.parseLong(arguments.key().text());
                    peer.send(
                            RawPeer.response(
                                    request.sequence(), REMOVE_BY_REGEX, Outcome.ok(number)));
                }
                for (int i = 0; i < calls.size(); i++) {
                    assertThat(calls.get(i).get(10, TimeUnit.SECONDS).orThrow())
                            .isEqualTo(Outcome.ok((long) i));
                }
            }
        }
    }

    @Test
    void a_call_ends_at_its_time_and_its_late_reply_is_dropped() throws Exception {
        try (ServerSocket listener = listen();
                RpcClient client = client(listener.getLocalPort())) {
            client.connect().orThrow();
            assertFailed(
                    client.call(EXIST_KEY, key("a"), SHORT),
                    StoreCode.RPC_TIMEOUT,
                    "ExistKey",
                    "127.0.0.1",
                    "may have taken effect");
            assertFailed(
                    client.callAsync(EXIST_KEY, key("b"), SHORT).get(10, TimeUnit.SECONDS),
                    StoreCode.RPC_TIMEOUT);
            RpcPipeline<Args.Key, Outcome<Boolean>> pipeline = client.pipeline(EXIST_KEY, 2, SHORT);
            pipeline.add(key("c"));
            List<Outcome<Outcome<Boolean>>> drained = new ArrayList<>();
            assertThat(pipeline.drain(drained::add)).isEqualTo(1);
            assertFailed(drained.getFirst(), StoreCode.RPC_TIMEOUT);
            try (RawPeer peer = new RawPeer(listener.accept())) {
                Future<Outcome<Boolean>> next =
                        threads.submit(() -> client.callExpected(EXIST_KEY, key("d"), LONG));
                for (int i = 0; i < 4; i++) {
                    Frame request = peer.readRequest();
                    peer.send(RawPeer.response(request.sequence(), EXIST_KEY, Outcome.ok(i == 3)));
                }
                assertThat(next.get(10, TimeUnit.SECONDS)).isEqualTo(Outcome.ok(true));
                assertThat(count(metrics, EVENTS, "event", "late_reply")).isEqualTo(3);
                assertThat(count(metrics, EVENTS, "event", "timed_out")).isEqualTo(3);
            }
        }
    }

    @Test
    void an_earlier_deadline_is_kept_while_a_later_one_is_waited_for() throws Exception {
        try (ServerSocket listener = listen();
                RpcClient client = client(listener.getLocalPort())) {
            Future<Outcome<Outcome<Boolean>>> blocked =
                    threads.submit(() -> client.call(EXIST_KEY, key("a"), LONG));
            try (RawPeer peer = new RawPeer(listener.accept())) {
                Frame first = peer.readRequest();
                CompletableFuture<Outcome<Outcome<Boolean>>> late =
                        client.callAsync(EXIST_KEY, key("b"), LONG);
                assertFailed(
                        client.callAsync(EXIST_KEY, key("c"), SHORT).get(10, TimeUnit.SECONDS),
                        StoreCode.RPC_TIMEOUT);
                assertThat(blocked.isDone()).isFalse();
                assertThat(late.isDone()).isFalse();
                peer.send(RawPeer.response(first.sequence(), EXIST_KEY, Outcome.ok(true)));
                assertThat(blocked.get(10, TimeUnit.SECONDS).isOk()).isTrue();
            }
        }
    }

    @Test
    void a_caller_behind_the_idle_background_reader_gets_its_turn() throws Exception {
        try (ServerSocket listener = listen();
                RpcClient client = client(listener.getLocalPort())) {
            Future<Outcome<Outcome<Boolean>>> leader =
                    threads.submit(() -> client.call(EXIST_KEY, key("a"), LONG));
            try (RawPeer peer = new RawPeer(listener.accept())) {
                Frame ofLeader = peer.readRequest();
                CompletableFuture<Outcome<Outcome<Boolean>>> async =
                        client.callAsync(EXIST_KEY, key("b"), LONG);
                Frame ofAsync = peer.readRequest();
                Future<Outcome<Outcome<Boolean>>> follower =
                        threads.submit(() -> client.call(EXIST_KEY, key("c"), LONG));
                Frame ofFollower = peer.readRequest();
                answer(peer, ofAsync, async);
                answer(peer, ofLeader, leader);
                answer(peer, ofFollower, follower);
            }
        }
    }

    private static void answer(RawPeer peer, Frame request, Future<Outcome<Outcome<Boolean>>> call)
            throws Exception {
        peer.send(RawPeer.response(request.sequence(), EXIST_KEY, Outcome.ok(true)));
        assertThat(call.get(10, TimeUnit.SECONDS).isOk()).isTrue();
    }

    @Test
    void a_lost_connection_fails_all_calls_and_the_next_call_connects_anew() throws Exception {
        try (ServerSocket listener = listen();
                RpcClient client = client(listener.getLocalPort())) {
            List<Future<Outcome<Outcome<Boolean>>>> calls = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                calls.add(threads.submit(() -> client.call(EXIST_KEY, key("a"), LONG)));
            }
            calls.add(client.callAsync(EXIST_KEY, key("a"), LONG));
            try (RawPeer peer = new RawPeer(listener.accept())) {
                for (int i = 0; i < calls.size(); i++) {
                    Frame _ = peer.readRequest();
                }
            }
            for (Future<Outcome<Outcome<Boolean>>> call : calls) {
                assertFailed(
                        call.get(10, TimeUnit.SECONDS),
                        StoreCode.RPC_FAIL,
                        "connection lost",
                        "may have taken effect");
            }
            Future<Outcome<Outcome<Boolean>>> next =
                    threads.submit(() -> client.call(EXIST_KEY, key("a"), LONG));
            try (RawPeer peer = new RawPeer(listener.accept())) {
                Frame request = peer.readRequest();
                assertThat(request.sequence()).isZero();
                peer.send(RawPeer.response(0, EXIST_KEY, Outcome.ok(true)));
                assertThat(next.get(10, TimeUnit.SECONDS).isOk()).isTrue();
            }
        }
    }

    @Test
    void a_refused_connection_says_that_nothing_was_sent_and_pauses() throws Exception {
        int port;
        try (ServerSocket listener = listen()) {
            port = listener.getLocalPort();
        }
        try (RpcClient client = client(port)) {
            assertFailed(
                    client.call(EXIST_KEY, key("a"), LONG),
                    StoreCode.RPC_FAIL,
                    "cannot connect to 127.0.0.1:" + port,
                    "refused",
                    "not sent");
            // One after the other doubles the pause until it is longer than a call.
            until(
                    "a call within the pause",
                    () ->
                            client.call(EXIST_KEY, key("a"), LONG)
                                    .toString()
                                    .contains("next attempt is possible in"));
            assertFailed(
                    client.callAsync(EXIST_KEY, key("a"), LONG).get(10, TimeUnit.SECONDS),
                    StoreCode.RPC_FAIL);
        }
    }

    /** Connections that the kernel neither takes nor refuses from now on. */
    private static List<Socket> fill(ServerSocket listener) throws Exception {
        List<Socket> waiting = new ArrayList<>();
        try {
            while (waiting.size() < 64) {
                Socket socket = new Socket();
                waiting.add(socket);
                socket.connect(listener.getLocalSocketAddress(), 500);
            }
        } catch (SocketTimeoutException e) {
            // Full.
        }
        return waiting;
    }

    @Test
    void a_call_too_short_to_connect_times_out_and_holds_up_nobody() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                RpcClient client = client(listener.getLocalPort())) {
            List<Socket> waiting = fill(listener);
            assertFailed(
                    client.call(EXIST_KEY, key("a"), SHORT),
                    StoreCode.RPC_TIMEOUT,
                    "no connection to 127.0.0.1",
                    "not sent");
            CompletableFuture<Outcome<Outcome<Boolean>>> interrupted = new CompletableFuture<>();
            Thread caller =
                    Thread.ofPlatform()
                            .start(
                                    () ->
                                            interrupted.complete(
                                                    client.call(EXIST_KEY, key("a"), LONG)));
            until("it connects", () -> Arrays.toString(caller.getStackTrace()).contains("poll"));
            caller.interrupt();
            assertFailed(interrupted.get(10, TimeUnit.SECONDS), StoreCode.RPC_FAIL, "interrupted");
            // Nothing has failed: no call is told to come later.
            assertThat(count(metrics, EVENTS, "event", "connect_failed")).isZero();
            assertFailed(
                    client.call(EXIST_KEY, key("a"), SHORT), StoreCode.RPC_TIMEOUT, "not sent");
            for (Socket socket : waiting) {
                socket.close();
            }
        }
    }

    @Test
    void what_is_no_response_ends_the_connection() throws Exception {
        byte[] good = RawPeer.response(0, EXIST_KEY, Outcome.ok(true));
        List<byte[]> bad = new ArrayList<>();
        for (int[] change : new int[][] {{0, 7}, {1, 1}, {11, 0x7f}, {15, 0x80}, {16, 0x11}}) {
            byte[] changed = good.clone();
            changed[change[0]] = (byte) change[1];
            bad.add(changed);
        }
        try (ServerSocket listener = listen();
                RpcClient client = client(listener.getLocalPort())) {
            for (byte[] response : bad) {
                Future<Outcome<Outcome<Boolean>>> call =
                        threads.submit(() -> client.call(EXIST_KEY, key("a"), LONG));
                try (RawPeer peer = new RawPeer(listener.accept())) {
                    Frame _ = peer.readRequest();
                    peer.send(response);
                    assertFailed(call.get(10, TimeUnit.SECONDS), StoreCode.RPC_FAIL);
                    assertThat(peer.isClosedByPeer()).isTrue();
                }
            }
            assertThat(count(metrics, EVENTS, "event", "lost_by_malformed_response"))
                    .isEqualTo(bad.size());
        }
    }

    @Test
    void errors_of_the_server_become_codes() throws Exception {
        try (ServerSocket listener = listen();
                RpcClient client = client(listener.getLocalPort())) {
            Future<?> server =
                    threads.submit(
                            () -> {
                                try (RawPeer peer = new RawPeer(listener.accept())) {
                                    for (String answer :
                                            List.of(
                                                    "3 76facf9d0474696d65",
                                                    "4 76facf9d03617267",
                                                    "9 ",
                                                    "255 " + extended())) {
                                        String[] parts = answer.split(" ", -1);
                                        peer.send(
                                                RawPeer.response(
                                                        peer.readRequest().sequence(),
                                                        Integer.parseInt(parts[0]),
                                                        Packed.bytes(parts[1])));
                                    }
                                }
                                return null;
                            });
            assertFailed(client.call(EXIST_KEY, key("a"), LONG), StoreCode.RPC_TIMEOUT, "time");
            assertFailed(client.call(EXIST_KEY, key("a"), LONG), StoreCode.RPC_FAIL, "arg", "4");
            assertFailed(client.call(EXIST_KEY, key("a"), LONG), StoreCode.RPC_FAIL, "9");
            assertFailed(client.call(EXIST_KEY, key("a"), LONG), StoreCode.RPC_FAIL, "own", "300");
            Object _ = server.get(10, TimeUnit.SECONDS);
        }
    }

    private static String extended() {
        var body = WireBody.of(WireType.pair(WireType.U16, WireType.STRING));
        return Packed.hex(Packed.withLiteral(body, Map.entry(300, "own")));
    }

    @Test
    void many_callers_of_all_kinds_get_their_own_answers() throws Exception {
        RpcServer.Builder builder =
                RpcServer.builder(metrics)
                        .register(
                                REMOVE_BY_REGEX,
                                arguments ->
                                        Outcome.ok(Long.parseLong(arguments.key().text()) * 7));
        int callers = 12;
        int each = 400;
        try (RpcServer server = builder.start().orThrow();
                RpcClient client = client(server.port())) {
            List<Future<Long>> sums = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                int number = i;
                sums.add(threads.submit(() -> wrongAnswers(client, number, each)));
            }
            for (Future<Long> sum : sums) {
                assertThat(sum.get(60, TimeUnit.SECONDS)).isZero();
            }
            assertThat(count(metrics, EVENTS, "event", "connected")).isEqualTo(1);
        }
    }

    private static Args.Remove number(long number) {
        return new Args.Remove(ByteString.of(Long.toString(number)), false, TENANT);
    }

    private static long wrongAnswers(RpcClient client, int caller, int calls) throws Exception {
        long wrong = 0;
        if (caller % 3 == 0) {
            for (long i = 0; i < calls; i++) {
                long n = caller * 1000L + i;
                wrong += isSeven(client.call(REMOVE_BY_REGEX, number(n), LONG), n) ? 0 : 1;
            }
        } else if (caller % 3 == 1) {
            List<CompletableFuture<Outcome<Outcome<Long>>>> futures = new ArrayList<>();
            for (long i = 0; i < calls; i++) {
                futures.add(client.callAsync(REMOVE_BY_REGEX, number(caller * 1000L + i), LONG));
                if (futures.size() == 20) {
                    for (int k = 0; k < 20; k++) {
                        long n = caller * 1000L + i - 19 + k;
                        wrong += isSeven(futures.get(k).get(), n) ? 0 : 1;
                    }
                    futures.clear();
                }
            }
        } else {
            RpcPipeline<Args.Remove, Outcome<Long>> pipeline =
                    client.pipeline(REMOVE_BY_REGEX, 16, LONG);
            long[] state = {0, 0};
            for (long i = 0; i < calls; ) {
                while (!pipeline.isFull() && i < calls) {
                    pipeline.add(number(caller * 1000L + i++));
                }
                pipeline.drain(
                        outcome -> {
                            long n = caller * 1000L + state[0]++;
                            state[1] += isSeven(outcome, n) ? 0 : 1;
                        });
            }
            wrong = state[1];
        }
        return wrong;
    }

    private static boolean isSeven(Outcome<Outcome<Long>> outcome, long number) {
        return RpcClient.flatten(outcome).equals(Outcome.ok(number * 7));
    }

    @Test
    void an_interrupted_caller_gives_up_and_the_connection_lives_on() throws Exception {
        try (ServerSocket listener = listen();
                RpcClient client = client(listener.getLocalPort())) {
            CompletableFuture<Outcome<Outcome<Boolean>>> outcome = new CompletableFuture<>();
            Thread caller =
                    Thread.ofPlatform()
                            .start(() -> outcome.complete(client.call(EXIST_KEY, key("a"), LONG)));
            try (RawPeer peer = new RawPeer(listener.accept())) {
                Frame request = peer.readRequest();
                caller.interrupt();
                assertFailed(
                        outcome.get(10, TimeUnit.SECONDS),
                        StoreCode.RPC_FAIL,
                        "interrupted",
                        "may have taken effect");
                Future<Outcome<Boolean>> next =
                        threads.submit(() -> client.callExpected(EXIST_KEY, key("b"), LONG));
                Frame second = peer.readRequest();
                peer.send(
                        RawPeer.response(request.sequence(), EXIST_KEY, Outcome.ok(false)),
                        RawPeer.response(second.sequence(), EXIST_KEY, Outcome.ok(true)));
                assertThat(next.get(10, TimeUnit.SECONDS)).isEqualTo(Outcome.ok(true));
            }
        }
    }

    @Test
    void calls_over_the_limit_wait_or_fail() throws Exception {
        try (ServerSocket listener = listen();
                RpcClient client =
                        RpcClient.builder("127.0.0.1", listener.getLocalPort(), metrics)
                                .maxInFlight(2)
                                .build()) {
            CompletableFuture<Outcome<Outcome<Boolean>>> one =
                    client.callAsync(EXIST_KEY, key("a"), LONG);
            CompletableFuture<Outcome<Outcome<Boolean>>> two =
                    client.callAsync(EXIST_KEY, key("a"), LONG);
            assertFailed(
                    client.callAsync(EXIST_KEY, key("a"), LONG).get(10, TimeUnit.SECONDS),
                    StoreCode.RPC_FAIL,
                    "limit is 2",
                    "not sent");
            assertFailed(client.call(EXIST_KEY, key("a"), SHORT), StoreCode.RPC_FAIL, "limit is 2");
            Future<Outcome<Boolean>> three =
                    threads.submit(() -> client.callExpected(EXIST_KEY, key("b"), LONG));
            try (RawPeer peer = new RawPeer(listener.accept())) {
                for (int i = 0; i < 3; i++) {
                    Frame request = peer.readRequest();
                    peer.send(RawPeer.response(request.sequence(), EXIST_KEY, Outcome.ok(true)));
                }
                assertThat(three.get(10, TimeUnit.SECONDS)).isEqualTo(Outcome.ok(true));
                assertThat(one.get(10, TimeUnit.SECONDS).isOk()).isTrue();
                assertThat(two.get(10, TimeUnit.SECONDS).isOk()).isTrue();
            }
        }
    }

    @Test
    void a_request_over_the_limit_is_not_sent() {
        try (RpcServer server = exist().start().orThrow();
                RpcClient client =
                        RpcClient.builder("127.0.0.1", server.port(), metrics)
                                .maxBodyBytes(2000)
                                .build()) {
            assertFailed(
                    client.call(EXIST_KEY, key("k".repeat(3000)), LONG),
                    StoreCode.INVALID_PARAMS,
                    "2000",
                    "not sent");
            assertThat(client.callExpected(EXIST_KEY, key("k"), LONG)).isEqualTo(Outcome.ok(true));
        }
    }

    @Test
    void requests_larger_than_the_socket_takes_at_once_go_out_while_replies_come_in()
            throws Exception {
        RpcServer.Builder builder =
                RpcServer.builder(metrics)
                        .register(
                                BATCH_EXIST_KEY,
                                keys -> Collections.nCopies(200_000, Outcome.ok(true)));
        Args.Keys keys =
                new Args.Keys(Collections.nCopies(8, ByteString.wrap(new byte[1 << 20])), TENANT);
        try (RpcServer server = builder.start().orThrow();
                RpcClient client = client(server.port())) {
            RpcPipeline<Args.Keys, List<Outcome<Boolean>>> pipeline =
                    client.pipeline(BATCH_EXIST_KEY, 8, LONG);
            List<Integer> sizes = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                pipeline.add(keys);
            }
            CompletableFuture<Outcome<List<Outcome<Boolean>>>> async =
                    client.callAsync(BATCH_EXIST_KEY, keys, LONG);
            while (pipeline.inFlight() > 0) {
                pipeline.drain(outcome -> sizes.add(outcome.orThrow().size()));
            }
            assertThat(sizes).containsExactly(200_000, 200_000, 200_000, 200_000);
            assertThat(async.get(20, TimeUnit.SECONDS).orThrow()).hasSize(200_000);
        }
    }

    @Test
    void a_future_may_be_followed_by_a_blocking_call() throws Exception {
        try (RpcServer server = exist().start().orThrow();
                RpcClient client = client(server.port())) {
            CompletableFuture<Outcome<Boolean>> chained =
                    client.callAsync(EXIST_KEY, key("a"), LONG)
                            .thenApply(_ -> client.callExpected(EXIST_KEY, key("b"), LONG));
            assertThat(chained.get(10, TimeUnit.SECONDS)).isEqualTo(Outcome.ok(true));
        }
    }

    @Test
    void arguments_that_cannot_be_encoded_leave_no_trace() {
        try (RpcServer server = exist().start().orThrow();
                RpcClient client = client(server.port())) {
            @SuppressWarnings("NullAway") // What a careless caller does.
            Args.Key broken = new Args.Key(null, TENANT);
            assertThatThrownBy(() -> client.call(EXIST_KEY, broken, LONG))
                    .isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> client.callAsync(EXIST_KEY, broken, LONG))
                    .isInstanceOf(NullPointerException.class);
            RpcPipeline<Args.Key, Outcome<Boolean>> pipeline = client.pipeline(EXIST_KEY, 2, LONG);
            assertThatThrownBy(() -> pipeline.add(broken)).isInstanceOf(NullPointerException.class);
            assertThat(pipeline.drain(_ -> {})).isZero();
            assertThat(client.callExpected(EXIST_KEY, key("b"), LONG)).isEqualTo(Outcome.ok(true));
        }
    }

    @Test
    void close_ends_calls_and_refuses_new_ones() throws Exception {
        try (ServerSocket listener = listen()) {
            RpcClient client = client(listener.getLocalPort());
            Future<Outcome<Outcome<Boolean>>> blocked =
                    threads.submit(() -> client.call(EXIST_KEY, key("a"), LONG));
            CompletableFuture<Outcome<Outcome<Boolean>>> async =
                    client.callAsync(EXIST_KEY, key("a"), LONG);
            try (RawPeer peer = new RawPeer(listener.accept())) {
                for (int i = 0; i < 2; i++) {
                    Frame _ = peer.readRequest();
                }
                client.close();
                assertFailed(
                        blocked.get(10, TimeUnit.SECONDS), StoreCode.RPC_FAIL, "client was closed");
                assertFailed(
                        async.get(10, TimeUnit.SECONDS), StoreCode.RPC_FAIL, "client was closed");
                assertFailed(
                        client.call(EXIST_KEY, key("a"), LONG), StoreCode.RPC_FAIL, "is closed");
                assertThat(peer.isClosedByPeer()).isTrue();
            }
        }
    }

    /** The machine's time, and a part that the test decides. */
    private static Clock ahead(AtomicLong nanos) {
        return new Clock() {
            @Override
            public long nanos() {
                return nanos.get() + System.nanoTime();
            }

            @Override
            public long epochMillis() {
                return 0;
            }
        };
    }

    @Test
    void a_server_that_left_during_a_pause_is_noticed_before_the_next_request() throws Exception {
        AtomicLong nanos = new AtomicLong();
        RpcServer first = exist().start().orThrow();
        try (RpcClient client =
                RpcClient.builder("127.0.0.1", first.port(), metrics).clock(ahead(nanos)).build()) {
            assertThat(client.callExpected(EXIST_KEY, key("a"), LONG).isOk()).isTrue();
            first.close();
            try (RpcServer _ = exist().bind("127.0.0.1", first.port()).start().orThrow()) {
                nanos.addAndGet(TimeUnit.SECONDS.toNanos(5));
                assertThat(client.callExpected(EXIST_KEY, key("a"), LONG))
                        .isEqualTo(Outcome.ok(true));
                counted(metrics, EVENTS, "event", "lost_by_peer");
            }
        }
    }

    @Test
    void it_is_noticed_behind_a_request_whose_answer_nobody_needs_and_that_never_came()
            throws Exception {
        AtomicLong nanos = new AtomicLong();
        try (ServerSocket listener = listen();
                RpcClient client =
                        RpcClient.builder("127.0.0.1", listener.getLocalPort(), metrics)
                                .clock(ahead(nanos))
                                .build()) {
            listener.setSoTimeout(20_000);
            client.callSoon(EXIST_KEY, key("soon"), LONG);
            try (RawPeer peer = new RawPeer(listener.accept())) {
                Frame _ = peer.readRequest();
                awaitParked("cassia-rpc-client-" + client.peer());
            }
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(5));
            Future<Outcome<Boolean>> next =
                    threads.submit(() -> client.callExpected(EXIST_KEY, key("b"), LONG));
            try (RawPeer peer = new RawPeer(listener.accept())) {
                Frame request = peer.readRequest();
                peer.send(RawPeer.response(request.sequence(), EXIST_KEY, Outcome.ok(true)));
                assertThat(next.get(10, TimeUnit.SECONDS)).isEqualTo(Outcome.ok(true));
            }
        }
    }

    /** Until the thread sleeps without a limit: it reads for nobody any more. */
    private static void awaitParked(String name) throws Exception {
        Thread thread =
                Thread.getAllStackTraces().keySet().stream()
                        .filter(each -> each.getName().equals(name))
                        .findFirst()
                        .orElseThrow();
        until(name + " sleeps", () -> thread.getState() == Thread.State.WAITING);
    }

    @Test
    void a_full_pipeline_takes_no_more() {
        try (RpcServer server = exist().start().orThrow();
                RpcClient client = client(server.port())) {
            RpcPipeline<Args.Key, Outcome<Boolean>> pipeline = client.pipeline(EXIST_KEY, 2, LONG);
            pipeline.add(key("a"));
            pipeline.add(key("b"));
            assertThatThrownBy(() -> pipeline.add(key("c")))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void pipelines_go_on_after_a_loss() throws Exception {
        CountDownLatch accepted = new CountDownLatch(1);
        CountDownLatch finished = new CountDownLatch(1);
        try (ServerSocket listener = listen();
                RpcClient client = client(listener.getLocalPort())) {
            Future<?> server =
                    threads.submit(
                            () -> {
                                try (RawPeer peer = new RawPeer(listener.accept())) {
                                    Frame request = peer.readRequest();
                                    peer.send(
                                            RawPeer.response(
                                                    request.sequence(),
                                                    EXIST_KEY,
                                                    Outcome.ok(true)));
                                }
                                accepted.countDown();
                                try (RawPeer peer = new RawPeer(listener.accept())) {
                                    Frame request = peer.readRequest();
                                    peer.send(
                                            RawPeer.response(
                                                    request.sequence(),
                                                    EXIST_KEY,
                                                    Outcome.ok(false)));
                                    assertThat(finished.await(10, TimeUnit.SECONDS)).isTrue();
                                }
                                return null;
                            });
            RpcPipeline<Args.Key, Outcome<Boolean>> pipeline = client.pipeline(EXIST_KEY, 4, LONG);
            List<Outcome<Outcome<Boolean>>> drained = new ArrayList<>();
            pipeline.add(key("a"));
            pipeline.add(key("b"));
            while (pipeline.inFlight() > 0) {
                pipeline.drain(drained::add);
            }
            assertThat(drained.get(0)).isEqualTo(Outcome.ok(Outcome.ok(true)));
            assertFailed(drained.get(1), StoreCode.RPC_FAIL, "connection lost");
            assertThat(accepted.await(10, TimeUnit.SECONDS)).isTrue();
            pipeline.add(key("c"));
            pipeline.drain(drained::add);
            assertThat(drained.get(2)).isEqualTo(Outcome.ok(Outcome.ok(false)));
            finished.countDown();
            Object _ = server.get(10, TimeUnit.SECONDS);
        }
    }
}
