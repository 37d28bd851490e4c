package io.cassia.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.master.core.AllocationStrategy;
import io.cassia.master.core.Command;
import io.cassia.master.core.CoreConfig;
import io.cassia.master.core.EvictionPolicy;
import io.cassia.master.core.TaskRules;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.testkit.simulation.VirtualClock;
import io.cassia.testkit.simulation.VirtualTime;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Nothing expires early or becomes immortal when somebody sets the machine's clock. */
class WallClockTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long HOUR_MILLIS = TimeUnit.HOURS.toMillis(1);
    private static final Uuid NODE = new Uuid(1, 1);
    private static final Uuid WRITER = new Uuid(2, 2);
    private static final ByteString TENANT = ByteString.of("default");
    private static final ByteString KEY = ByteString.of("k");
    private static final int ALL = 4;

    private static final CoreConfig CONFIG =
            new CoreConfig(
                    10 * SECOND,
                    20 * SECOND,
                    60 * SECOND,
                    false,
                    10 * SECOND,
                    30 * SECOND,
                    60 * SECOND,
                    1.0,
                    0.05,
                    AllocationStrategy.RANDOM,
                    false,
                    Long.MAX_VALUE,
                    10,
                    10,
                    30 * SECOND,
                    0,
                    false,
                    TaskRules.DEFAULT,
                    EvictionPolicy.LRU,
                    0,
                    SECOND / 10,
                    1);

    private final VirtualTime time = new VirtualTime();
    private final VirtualClock clock = new VirtualClock(time, -7 * SECOND, 0);

    /** Never started: the test is its timer. */
    private final MasterLoop master = new MasterLoop(CONFIG, clock);

    /** Ticks for a while; the node pings as long as it lives; the wall clock goes to and fro. */
    private void run(int seconds, boolean pings) {
        for (int i = 0; i < seconds * 10; i++) {
            clock.stepWall(i % 2 == 0 ? HOUR_MILLIS : -HOUR_MILLIS);
            time.after(SECOND / 10, () -> {});
            assertThat(time.step()).isTrue();
            if (pings) {
                master.apply(new Command.Ping(NODE)).orThrow();
            }
            while (master.apply(new Command.Tick())) {
                // Until nothing is due.
            }
        }
    }

    private void mount() {
        Segment segment = new Segment(NODE, "node", 1 << 20, 100, "10.0.0.1:1", "tcp", "");
        master.apply(new Command.MountSegment(new Args.MountSegment(segment, NODE))).orThrow();
        master.apply(new Command.ReMountSegment(new Args.ReMountSegment(List.of(segment), NODE)))
                .orThrow();
    }

    private boolean isStarted(ByteString key) {
        return master.apply(
                        new Command.PutStart(
                                new Args.PutStart(
                                        WRITER, key, 100, ReplicateConfig.DEFAULT, TENANT)))
                .isOk();
    }

    private void put() {
        assertThat(isStarted(KEY)).isTrue();
        master.apply(
                        new Command.PutEnd(
                                new Args.PutEnd(
                                        WRITER,
                                        new ObjectMeta(KEY, OptionalLong.empty()),
                                        ALL,
                                        TENANT)))
                .orThrow();
    }

    private boolean isLeased() {
        return master.apply(new Command.Remove(KEY, false, TENANT))
                        instanceof Outcome.Failed<?> failed
                && failed.code() == StoreCode.OBJECT_HAS_LEASE;
    }

    @Test
    void a_lease_lasts_as_long_as_it_was_given() {
        mount();
        put();
        master.apply(new Command.GetReplicaList(KEY, TENANT)).orThrow();
        run(9, true);
        assertThat(isLeased()).isTrue();
        run(1, true);
        assertThat(isLeased()).isFalse();
    }

    @Test
    void an_unfinished_put_is_given_up_in_its_time() {
        mount();
        assertThat(isStarted(KEY)).isTrue();
        run(29, true);
        assertThat(isStarted(KEY)).as("before it may be taken over").isFalse();
        run(30, true);
        assertThat(master.apply(new Command.Stats()).usedBytes()).isEqualTo(100);
        run(2, true);
        assertThat(master.apply(new Command.Stats()).usedBytes()).isZero();
    }

    @Test
    void a_node_is_given_up_after_its_silence_and_not_before() {
        mount();
        put();
        List<Boolean> exists = new ArrayList<>();
        run(3, true);
        for (int second = 0; second < 12; second++) {
            run(1, false);
            exists.add(master.apply(new Command.ExistKey(KEY, TENANT)).orThrow());
        }
        assertThat(exists.subList(0, 9)).doesNotContain(false);
        assertThat(exists.getLast()).as("its client is silent").isFalse();
        run(17, false);
        assertThat(master.apply(new Command.Stats()).capacityBytes()).isEqualTo(100);
        run(2, false);
        assertThat(master.apply(new Command.Stats()).capacityBytes()).isZero();
    }
}
