package io.cassia.master.core;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages;
import io.cassia.rpc.cassia.CassiaMessages.Acquired;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.PingResult;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;

/** A core with a clock that the test moves, and short names for the commands. */
final class Harness {
    static final Uuid A = new Uuid(1, 2);
    static final Uuid B = new Uuid(3, 4);
    static final ByteString TENANT = ByteString.of("default");
    static final long KIB = 1024;
    static final long MIB = 1024 * KIB;

    private static final long ORIGIN = -5_000_000_000L;

    final MasterCore core;
    long now = ORIGIN;

    Harness() {
        this(config -> config);
    }

    Harness(UnaryOperator<Settings> settings) {
        core = new MasterCore(settings.apply(new Settings()).build(), ORIGIN);
    }

    /** Settings of a core under test; the defaults are those of the product but for the ratios. */
    static final class Settings {
        Duration lease = Duration.ofSeconds(10);
        Duration clientTtl = Duration.ofSeconds(10);
        double watermark = 1.0;
        double ratio = 0.05;
        boolean multiTenant;
        boolean evictSoftPinned = true;
        long maxMetadata = Long.MAX_VALUE;
        int maxClients = 1000;
        int maxLeases = 1000;
        Duration wipe = Duration.ofSeconds(30);
        long maxObjects;
        boolean allReplicas;
        TaskRules tasks = TaskRules.DEFAULT;
        EvictionPolicy policy = EvictionPolicy.LRU;
        Duration restartGrace = Duration.ZERO;
        AllocationStrategy strategy = AllocationStrategy.RANDOM;
        long seed = 42;

        CoreConfig build() {
            return new CoreConfig(
                    lease.toNanos(),
                    Duration.ofMinutes(30).toNanos(),
                    Duration.ofHours(24).toNanos(),
                    evictSoftPinned,
                    clientTtl.toNanos(),
                    Duration.ofSeconds(30).toNanos(),
                    Duration.ofSeconds(600).toNanos(),
                    watermark,
                    ratio,
                    strategy,
                    multiTenant,
                    maxMetadata,
                    maxClients,
                    maxLeases,
                    Math.max(wipe.toNanos(), clientTtl.toNanos()),
                    maxObjects,
                    allReplicas,
                    tasks,
                    policy,
                    restartGrace.toNanos(),
                    Duration.ofMillis(100).toNanos(),
                    seed);
        }
    }

    <R> R apply(Command<R> command) {
        return core.apply(command, now);
    }

    /** Moves the clock without telling the core: it learns of it with the next command. */
    void sleep(Duration time) {
        now += time.toNanos();
    }

    /** Moves the clock as a running timer would, with pings of all clients that live. */
    void run(Duration time, Uuid... pinging) {
        long end = now + time.toNanos();
        long nextPing = now;
        while (now < end) {
            now = Math.min(end, now + Duration.ofMillis(100).toNanos());
            if (now >= nextPing) {
                nextPing = now + Duration.ofSeconds(1).toNanos();
                for (Uuid client : pinging) {
                    ok(apply(new Command.Ping(client)));
                }
            }
            while (apply(new Command.Tick())) {
                // Slices until nothing is due.
            }
        }
    }

    static ByteString key(String text) {
        return ByteString.of(text);
    }

    static Segment segment(long id, String name, long base, long size) {
        return new Segment(
                new Uuid(id, id + 1), name, base, size, "127.0.0.1:" + (1000 + id), "tcp", "");
    }

    /** Mounts at 1 GiB x id and makes the client OK. */
    Segment mount(Uuid client, long id, String name, long size) {
        Segment segment = segment(id, name, id << 32, size);
        ok(apply(new Command.MountSegment(new Args.MountSegment(segment, client))));
        ok(apply(new Command.ReMountSegment(new Args.ReMountSegment(List.of(segment), client))));
        return segment;
    }

    Outcome<Done> unmount(Segment segment, Uuid client) {
        return apply(new Command.UnmountSegment(new Args.UnmountSegment(segment.id(), client)));
    }

    /** Registers a tenant. */
    void quota(String tenant, long bytes) {
        ok(apply(new Command.SetTenantQuota(ByteString.of(tenant), bytes)));
    }

    Outcome<PingResult> ping(Uuid client) {
        return apply(new Command.Ping(client));
    }

    Outcome<List<ReplicaDescriptor>> start(Uuid client, String key, long length) {
        return start(client, key, length, ReplicateConfig.DEFAULT);
    }

    Outcome<List<ReplicaDescriptor>> start(
            Uuid client, String key, long length, ReplicateConfig config) {
        return apply(
                new Command.PutStart(new Args.PutStart(client, key(key), length, config, TENANT)));
    }

    Outcome<List<ReplicaDescriptor>> upsert(Uuid client, String key, long length) {
        return upsert(client, key, length, ReplicateConfig.DEFAULT);
    }

    Outcome<List<ReplicaDescriptor>> upsert(
            Uuid client, String key, long length, ReplicateConfig config) {
        return apply(
                new Command.UpsertStart(
                        new Args.PutStart(client, key(key), length, config, TENANT)));
    }

    Outcome<Done> end(Uuid client, String key) {
        return end(client, key, ReplicaType.ALL.number(), OptionalLong.empty());
    }

    Outcome<Done> end(Uuid client, String key, int type, OptionalLong checksum) {
        return apply(
                new Command.PutEnd(
                        new Args.PutEnd(client, new ObjectMeta(key(key), checksum), type, TENANT)));
    }

    Outcome<Done> revoke(Uuid client, String key) {
        return revoke(client, key, ReplicaType.ALL.number());
    }

    Outcome<Done> revoke(Uuid client, String key, int type) {
        return apply(new Command.PutRevoke(new Args.PutRevoke(client, key(key), type, TENANT)));
    }

    /** Start and End of A. */
    void put(String key, long length) {
        put(key, length, ReplicateConfig.DEFAULT);
    }

    void put(String key, long length, ReplicateConfig config) {
        ok(start(A, key, length, config));
        ok(end(A, key));
    }

    Outcome<Boolean> exist(String key) {
        return apply(new Command.ExistKey(key(key), TENANT));
    }

    Outcome<ReplicaList> get(String key) {
        return apply(new Command.GetReplicaList(key(key), TENANT));
    }

    Outcome<Done> remove(String key, boolean force) {
        return apply(new Command.Remove(key(key), force, TENANT));
    }

    Acquired acquire(boolean prefixOnly, long ttlMs, String... keys) {
        return apply(
                new Command.Acquire(
                        new CassiaMessages.Acquire(
                                Arrays.stream(keys).map(Harness::key).toList(),
                                TENANT,
                                prefixOnly,
                                ttlMs)));
    }

    void release(long... ids) {
        apply(new Command.Release(Arrays.stream(ids).boxed().toList()));
    }

    Stats stats() {
        return apply(new Command.Stats());
    }

    /** All slices of a RemoveAll. */
    long removeAll(Optional<ByteString> tenant, Optional<String> regex, boolean force) {
        Selection selection = new Selection(tenant, regex.map(ByteString::of));
        Optional<Cursor> at = Optional.of(Cursor.START);
        long count = 0;
        while (at.isPresent()) {
            Slice<Long> slice =
                    apply(new Command.RemoveSlice(selection, force, at.get())).orThrow();
            count += slice.part();
            at = slice.rest();
        }
        return count;
    }

    /** The value of an outcome that must be one. */
    @CanIgnoreReturnValue
    static <T> T ok(Outcome<T> outcome) {
        return outcome.orThrow();
    }

    /** The code of an outcome; OK for a value. */
    static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    static String detail(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.detail() : "";
    }

    /** {@link ReplicateConfig#DEFAULT} with some things changed. */
    static ReplicateConfig config(
            long replicas, int pin, OptionalLong pinMs, boolean hardPin, String... preferred) {
        return new ReplicateConfig(
                replicas,
                0,
                0,
                pin,
                pinMs,
                hardPin,
                List.of(preferred),
                "",
                List.of(),
                false,
                0,
                "",
                Optional.empty());
    }

    static ReplicateConfig replicas(long count) {
        return config(count, 0, OptionalLong.empty(), false);
    }

    static ReplicateConfig hardPinned() {
        return config(1, 0, OptionalLong.empty(), true);
    }

    static ReplicateConfig softPinned(long millis) {
        return config(1, 1, OptionalLong.of(millis), false);
    }
}
