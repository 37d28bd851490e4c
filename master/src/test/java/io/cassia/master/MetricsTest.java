package io.cassia.master;

import static io.cassia.master.TestMaster.A;
import static io.cassia.master.TestMaster.B;
import static io.cassia.master.TestMaster.MIB;
import static io.cassia.master.TestMaster.segment;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.master.events.KvEventsConfig;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.cassia.CassiaMessages.Acquire;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.TaskCompletion;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.Meter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Every metric that a master declares moves when what it counts happens. */
class MetricsTest {
    private static final ByteString TENANT = ByteString.of("team");

    /** No printable name: reads and writes of it are refused. */
    private static final ByteString MALFORMED = ByteString.of("_bad\u0001");

    private static final ReplicateConfig ONE = ReplicateConfig.DEFAULT;
    private static final int ALL = 4;

    /** What this test does not bring about, and who does. */
    private static final Map<String, String> ELSEWHERE =
            Map.ofEntries(
                    Map.entry(
                            "master_batch_exist_key_partial_successes_total",
                            "never: keys of one request share their tenant"),
                    Map.entry("master_fetch_tasks_failures_total", "never: it has no error"),
                    Map.entry("cassia.rpc.server.closed", "RpcServerTest"),
                    Map.entry("cassia.rpc.server.rejected", "RpcServerTest"),
                    Map.entry("cassia.admin.refused", "AdminHttpTest"),
                    Map.entry("cassia.kv.events.slow.subscriber.messages", "KvEventPublisherTest"),
                    Map.entry("cassia.kv.events.dropped", "KvEventsTest"),
                    Map.entry("cassia.kv.events.skipped", "KvEventsTest"),
                    Map.entry(
                            "master_stalled_seconds_total", "core tests, with a clock that jumps"),
                    Map.entry(
                            "master_ping_failures_total",
                            "core tests, with a full table of clients"),
                    Map.entry(
                            "master_unmount_segment_failures_total", "core tests, during a sweep"),
                    Map.entry(
                            "master_remove_all_failures_total",
                            "never: upstream's answer has no error"));

    private final Map<Meter.Id, String> first = new HashMap<>();
    private final Set<Meter.Id> moved = new HashSet<>();

    private boolean hasMoved(String name) {
        return moved.stream().anyMatch(id -> id.getName().equals(name));
    }

    private void look(TestMaster master) {
        master.master().refreshMetrics();
        for (Meter meter : master.meters().getMeters()) {
            String now = measured(meter);
            String before = first.putIfAbsent(meter.getId(), now);
            // A series that comes into being with its first event has moved by that.
            boolean born = before == null && !now.matches("(0\\.0 )*");
            if (born || (before != null && !before.equals(now))) {
                moved.add(meter.getId());
            }
        }
    }

    private static String measured(Meter meter) {
        StringBuilder text = new StringBuilder();
        meter.measure().forEach(each -> text.append(each.getValue()).append(' '));
        return text.toString();
    }

    private static ReplicateConfig pinned(long replicas, boolean hard) {
        return new ReplicateConfig(
                replicas,
                0,
                0,
                0,
                OptionalLong.empty(),
                hard,
                List.of(),
                "",
                List.of(),
                false,
                0,
                "",
                Optional.empty());
    }

    private static ByteString key(String text) {
        return ByteString.of(text);
    }

    private static <Q, T> void fails(TestMaster master, RpcMethod<Q, Outcome<T>> method, Q args) {
        assertThat(master.call(method, args).isOk()).as(method.name()).isFalse();
    }

    private static Args.PutStart start(String key, long bytes, ReplicateConfig config) {
        return new Args.PutStart(A, key(key), bytes, config, TENANT);
    }

    private static Args.PutEnd end(String key) {
        return new Args.PutEnd(A, new ObjectMeta(key(key), OptionalLong.empty()), ALL, TENANT);
    }

    private static Args.PutRevoke revoke(String key) {
        return new Args.PutRevoke(A, key(key), ALL, TENANT);
    }

    private static List<ByteString> keys(String... names) {
        List<ByteString> keys = new ArrayList<>();
        for (String name : names) {
            keys.add(key(name));
        }
        return keys;
    }

    private static MasterConfig.Builder config() {
        return TestMaster.config()
                .enableMultiTenants(true)
                .defaultLeaseTtl(Duration.ofMillis(50))
                .putTimeouts(Duration.ofMillis(50), Duration.ofSeconds(2))
                .clientTtl(Duration.ofSeconds(4))
                .clientWipe(Duration.ofMillis(4500))
                .tasks(new TaskLimits(10, 10, 1, Duration.ofSeconds(3), Duration.ofSeconds(3), 3))
                .kvEvents(
                        Optional.of(
                                new KvEventsConfig("tcp://127.0.0.1:*", "b", true, true, 1000)));
    }

    @Test
    void every_declared_metric_moves() throws Exception {
        try (TestMaster master = TestMaster.start(config())) {
            look(master);
            segments(master);
            look(master);
            puts(master);
            look(master);
            upserts(master);
            reads(master);
            look(master);
            copies(master);
            look(master);
            tasks(master);
            look(master);
            removals(master);
            look(master);
            evictions(master);
            look(master);
            assertThat(master.get("/health").statusCode()).isEqualTo(200);
            silence(master);
            assertMoved(master);
        }
    }

    private void assertMoved(TestMaster master) {
        Set<String> still = new TreeSet<>();
        for (Meter meter : master.meters().getMeters()) {
            String name = meter.getId().getName();
            boolean ours = !name.startsWith("cassia.rpc.client");
            if (ours && !moved.contains(meter.getId()) && !ELSEWHERE.containsKey(name)) {
                // Every method has a series; that of one that was called proves them.
                if (!name.equals("cassia.rpc.server.requests")) {
                    still.add(meter.getId().toString());
                }
            }
        }
        assertThat(still).isEmpty();
    }

    private static void quota(TestMaster master, String tenant, long bytes) throws Exception {
        assertThat(
                        master.http(
                                        "PUT",
                                        "/api/v1/tenant_quotas?tenant_id=" + tenant,
                                        "{\"requested_quota_bytes\": " + bytes + "}")
                                .statusCode())
                .isEqualTo(200);
    }

    private static void segments(TestMaster master) throws Exception {
        quota(master, "team", 4 * MIB);
        quota(master, "default", 1000);
        master.ok(MasterMethods.MOUNT_SEGMENT, new Args.MountSegment(segment(11, "a:1", MIB), A));
        fails(master, MasterMethods.MOUNT_SEGMENT, new Args.MountSegment(segment(0, "x", 1), A));
        master.mount(A, segment(11, "a:1", MIB));
        master.mount(B, segment(12, "b:1", MIB));
        fails(
                master,
                MasterMethods.REMOUNT_SEGMENT,
                new Args.ReMountSegment(List.of(segment(11, "a:1", MIB)), new Uuid(9, 9)));
        master.ok(MasterMethods.PING, A);
        master.ok(MasterMethods.BATCH_QUERY_IP, List.of(A, new Uuid(9, 9)));
        master.ok(MasterMethods.BATCH_QUERY_IP, List.of(new Uuid(9, 9)));
        master.mount(new Uuid(7, 7), segment(13, "c:1", MIB));
        master.ok(
                MasterMethods.UNMOUNT_SEGMENT, new Args.UnmountSegment(segment(13, "", 1).id(), A));
    }

    private static void puts(TestMaster master) {
        for (String key : List.of("k", "l", "m")) {
            master.ok(MasterMethods.PUT_START, start(key, 1000, ONE));
            master.ok(MasterMethods.PUT_END, end(key));
        }
        fails(master, MasterMethods.PUT_START, start("", 1000, ONE));
        fails(master, MasterMethods.PUT_START, start("over the quota", 16 * MIB, ONE));
        fails(master, MasterMethods.PUT_START, start("over a segment", MIB + 1, ONE));
        fails(master, MasterMethods.PUT_END, end("none"));
        master.ok(MasterMethods.PUT_START, start("r", 10, ONE));
        master.ok(MasterMethods.PUT_REVOKE, revoke("r"));
        fails(master, MasterMethods.PUT_REVOKE, revoke("r"));
        master.ok(MasterMethods.PUT_START, start("pinned", 500, pinned(1, true)));
        master.ok(MasterMethods.PUT_END, end("pinned"));
        ReplicateConfig three = pinned(3, false);
        master.ok(MasterMethods.PUT_START, start("three", 10, three));
        master.ok(MasterMethods.PUT_END, end("three"));
        batch(master, List.of(10L, 10L), "p", "q");
        batch(master, List.of(10L, 0L), "s", "t");
        batch(master, List.of(0L), "v");
        master.call(
                MasterMethods.BATCH_PUT_REVOKE,
                new Args.BatchPutRevoke(A, keys("none"), ALL, TENANT));
        master.ok(MasterMethods.PUT_START, start("w", 10, ONE));
        master.call(
                MasterMethods.BATCH_PUT_REVOKE,
                new Args.BatchPutRevoke(A, keys("w", "none"), ALL, TENANT));
        // One that is taken over, one that is never ended.
        master.ok(MasterMethods.PUT_START, start("late", 10, ONE));
        until(() -> master.call(MasterMethods.PUT_START, start("late", 10, ONE)).isOk());
    }

    private static void batch(TestMaster master, List<Long> lengths, String... names) {
        master.call(
                MasterMethods.BATCH_PUT_START,
                new Args.BatchPutStart(A, keys(names), lengths, ONE, TENANT));
        List<ObjectMeta> metas =
                keys(names).stream().map(k -> new ObjectMeta(k, OptionalLong.empty())).toList();
        master.call(MasterMethods.BATCH_PUT_END, new Args.BatchPutEnd(A, metas, ALL, TENANT));
    }

    private static void upserts(TestMaster master) {
        master.ok(MasterMethods.UPSERT_START, start("k", 900, ONE));
        master.ok(MasterMethods.UPSERT_END, end("k"));
        fails(master, MasterMethods.UPSERT_START, start("", 900, ONE));
        fails(master, MasterMethods.UPSERT_END, end("none"));
        master.ok(MasterMethods.UPSERT_START, start("l", 900, ONE));
        master.ok(MasterMethods.UPSERT_REVOKE, revoke("l"));
        fails(master, MasterMethods.UPSERT_REVOKE, revoke("none"));
        for (List<Long> lengths : List.of(List.of(10L, 10L), List.of(10L, 0L), List.of(0L, 0L))) {
            List<ByteString> keys = keys("ua" + lengths, "ub" + lengths);
            master.call(
                    MasterMethods.BATCH_UPSERT_START,
                    new Args.BatchPutStart(A, keys, lengths, ONE, TENANT));
            List<ObjectMeta> metas =
                    keys.stream().map(k -> new ObjectMeta(k, OptionalLong.empty())).toList();
            master.call(MasterMethods.BATCH_UPSERT_END, new Args.BatchUpsertEnd(A, metas, TENANT));
        }
        master.ok(MasterMethods.UPSERT_START, start("ur", 10, ONE));
        master.call(
                MasterMethods.BATCH_UPSERT_REVOKE,
                new Args.BatchUpsertRevoke(A, keys("ur", "none"), TENANT));
        master.call(
                MasterMethods.BATCH_UPSERT_REVOKE,
                new Args.BatchUpsertRevoke(A, keys("none"), TENANT));
    }

    private void reads(TestMaster master) {
        master.ok(MasterMethods.EXIST_KEY, new Args.Key(key("k"), TENANT));
        fails(master, MasterMethods.EXIST_KEY, new Args.Key(key("k"), MALFORMED));
        master.call(MasterMethods.BATCH_EXIST_KEY, new Args.Keys(keys("k"), TENANT));
        master.call(MasterMethods.BATCH_EXIST_KEY, new Args.Keys(keys("k"), MALFORMED));
        // A lease is short, and gauges show what was so a moment ago.
        until(
                () -> {
                    master.ok(MasterMethods.GET_REPLICA_LIST, new Args.Key(key("k"), TENANT));
                    look(master);
                    return hasMoved("master_leased_bytes");
                });
        fails(master, MasterMethods.GET_REPLICA_LIST, new Args.Key(key("none"), TENANT));
        master.call(MasterMethods.BATCH_GET_REPLICA_LIST, new Args.Keys(keys("k", "no"), TENANT));
        master.call(MasterMethods.BATCH_GET_REPLICA_LIST, new Args.Keys(keys("no"), TENANT));
        master.ok(MasterMethods.GET_REPLICA_LIST_BY_REGEX, new Args.Key(key("k"), TENANT));
        fails(master, MasterMethods.GET_REPLICA_LIST_BY_REGEX, new Args.Key(key("("), TENANT));
        master.ok(CassiaMethods.ACQUIRE, new Acquire(keys("k"), TENANT, false, 20));
    }

    private static void copies(TestMaster master) {
        Args.CopyStart copy =
                new Args.CopyStart(
                        A, key("m"), TENANT, source(master, "m"), List.of(other(master, "m")));
        master.ok(MasterMethods.COPY_START, copy);
        fails(master, MasterMethods.COPY_START, copy);
        Args.ClientKey m = new Args.ClientKey(A, key("m"), TENANT);
        master.ok(MasterMethods.COPY_REVOKE, m);
        fails(master, MasterMethods.COPY_REVOKE, m);
        master.ok(MasterMethods.COPY_START, copy);
        master.ok(MasterMethods.COPY_END, m);
        fails(master, MasterMethods.COPY_END, m);
        Args.MoveStart move =
                new Args.MoveStart(A, key("l"), TENANT, source(master, "l"), other(master, "l"));
        Args.ClientKey l = new Args.ClientKey(A, key("l"), TENANT);
        master.ok(MasterMethods.MOVE_START, move);
        fails(master, MasterMethods.MOVE_START, move);
        master.ok(MasterMethods.MOVE_REVOKE, l);
        fails(master, MasterMethods.MOVE_REVOKE, l);
        master.ok(MasterMethods.MOVE_START, move);
        master.ok(MasterMethods.MOVE_END, l);
        fails(master, MasterMethods.MOVE_END, l);
        // One that nobody ends.
        master.ok(
                MasterMethods.COPY_START,
                new Args.CopyStart(
                        A, key("k"), TENANT, source(master, "k"), List.of(other(master, "k"))));
    }

    private static String source(TestMaster master, String key) {
        boolean inA =
                master.ok(MasterMethods.GET_REPLICA_LIST, new Args.Key(key(key), TENANT))
                        .toString()
                        .contains("a:1");
        return inA ? "a:1" : "b:1";
    }

    private static String other(TestMaster master, String key) {
        return source(master, key).equals("a:1") ? "b:1" : "a:1";
    }

    private static void tasks(TestMaster master) {
        List<Uuid> ids = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ids.add(
                    master.ok(
                            MasterMethods.CREATE_COPY_TASK,
                            new Args.CreateCopyTask(
                                    key("p"), TENANT, List.of(other(master, "p")))));
        }
        fails(
                master,
                MasterMethods.CREATE_COPY_TASK,
                new Args.CreateCopyTask(key("p"), TENANT, List.of()));
        Args.CreateMoveTask move =
                new Args.CreateMoveTask(key("q"), TENANT, source(master, "q"), other(master, "q"));
        master.ok(MasterMethods.CREATE_MOVE_TASK, move);
        fails(
                master,
                MasterMethods.CREATE_MOVE_TASK,
                new Args.CreateMoveTask(key("q"), TENANT, "a:1", "a:1"));
        master.ok(MasterMethods.QUERY_TASK, ids.getFirst());
        fails(master, MasterMethods.QUERY_TASK, new Uuid(5, 5));
        master.ok(MasterMethods.FETCH_TASKS, new Args.FetchTasks(A, 1));
        master.ok(MasterMethods.FETCH_TASKS, new Args.FetchTasks(B, 1));
        Uuid owner = source(master, "p").equals("a:1") ? A : B;
        master.ok(
                MasterMethods.MARK_TASK_TO_COMPLETE,
                new Args.MarkTaskToComplete(owner, new TaskCompletion(ids.getFirst(), 3, "")));
        fails(
                master,
                MasterMethods.MARK_TASK_TO_COMPLETE,
                new Args.MarkTaskToComplete(A, new TaskCompletion(new Uuid(5, 5), 3, "")));
    }

    private void removals(TestMaster master) {
        fails(master, MasterMethods.REMOVE, new Args.Remove(key("none"), false, TENANT));
        master.ok(MasterMethods.REMOVE, new Args.Remove(key("pinned"), true, TENANT));
        master.call(
                MasterMethods.BATCH_REMOVE, new Args.BatchRemove(keys("p", "no"), true, TENANT));
        master.call(MasterMethods.BATCH_REMOVE, new Args.BatchRemove(keys("no"), true, TENANT));
        master.ok(MasterMethods.REMOVE_BY_REGEX, new Args.Remove(key("ua.*"), true, TENANT));
        fails(master, MasterMethods.REMOVE_BY_REGEX, new Args.Remove(key("("), true, TENANT));
        // Replicas are cleared for the default tenant alone.
        master.put("d", 10);
        look(master);
        until(
                () ->
                        !master.ok(
                                        MasterMethods.BATCH_REPLICA_CLEAR,
                                        new Args.BatchReplicaClear(keys("d", "no"), A, ""))
                                .isEmpty());
        master.call(
                MasterMethods.BATCH_REPLICA_CLEAR, new Args.BatchReplicaClear(keys("no"), A, ""));
    }

    private static void evictions(TestMaster master) throws Exception {
        master.call(MasterMethods.REMOVE_ALL, new Args.RemoveAll(true, TENANT));
        // Two of these fit a segment; the fifth is within the quota.
        putAll(master, "c", 5, MIB * 35 / 100);
        master.call(MasterMethods.REMOVE_ALL, new Args.RemoveAll(true, TENANT));
        // Each segment is full of what cannot go, but for a rest that is too small.
        for (String key : List.of("f", "g")) {
            until(
                    () ->
                            master.call(
                                            MasterMethods.PUT_START,
                                            start(key, MIB * 6 / 10, pinned(1, true)))
                                    .isOk());
            master.ok(MasterMethods.PUT_END, end(key));
        }
        fails(master, MasterMethods.PUT_START, start("h", MIB / 2, ONE));
        master.call(MasterMethods.REMOVE_ALL, new Args.RemoveAll(true, TENANT));
        quota(master, "team", MIB);
        putAll(master, "e", 8, MIB / 2 - 1000);
    }

    private static void putAll(TestMaster master, String prefix, int count, long bytes) {
        for (int i = 0; i < count; i++) {
            String key = prefix + i;
            until(() -> master.call(MasterMethods.PUT_START, start(key, bytes, ONE)).isOk());
            master.ok(MasterMethods.PUT_END, end(key));
        }
    }

    private void silence(TestMaster master) {
        until(
                () -> {
                    look(master);
                    return hasMoved("master_expired_clients_total");
                });
        until(
                () -> {
                    look(master);
                    return hasMoved("master_timed_out_tasks_total");
                });
    }

    private static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + 20_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
    }

    @Test
    void metrics_md_names_every_metric() throws IOException {
        Map<String, String> declared = new TreeMap<>();
        try (TestMaster master = TestMaster.start(config().limits(10, 10))) {
            master.master().refreshMetrics();
            for (Meter meter : master.meters().getMeters()) {
                String name = meter.getId().getName().replace('.', '_');
                if (!name.startsWith("cassia_rpc_client") && !name.endsWith("_histogram")) {
                    declared.put(
                            name, Optional.ofNullable(meter.getId().getDescription()).orElse(""));
                }
            }
        }
        Path file = Path.of(System.getProperty("cassia.root", ".."), "docs", "metrics.md");
        String begin = "<!-- master: generated, do not edit -->\n";
        String end = "<!-- master: end -->\n";
        StringBuilder table = new StringBuilder("| metric | what it tells |\n| --- | --- |\n");
        declared.forEach(
                (name, text) -> {
                    assertThat(text).as(name).isNotEmpty();
                    table.append("| `").append(name).append("` | ").append(text).append(" |\n");
                });
        String page = Files.readString(file);
        int from = page.indexOf(begin) + begin.length();
        if (Boolean.getBoolean("cassia.regenerate")) {
            page = page.substring(0, from) + table + page.substring(page.indexOf(end));
            Files.writeString(file, page);
        }
        assertThat(page.substring(from, page.indexOf(end)))
                .as(
                        "write docs/metrics.md anew with: mvn test -pl master -am"
                                + " -Dtest=MetricsTest -Dsurefire.failIfNoSpecifiedTests=false"
                                + " -Dcassia.regenerate=true")
                .isEqualTo(table.toString());
    }
}
