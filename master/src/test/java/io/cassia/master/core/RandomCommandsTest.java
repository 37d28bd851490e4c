package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.TENANT;
import static io.cassia.master.core.Harness.key;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.cassia.ReservedMessages.Commit;
import io.cassia.rpc.cassia.ReservedMessages.GiveBack;
import io.cassia.rpc.cassia.ReservedMessages.Reserved;
import io.cassia.rpc.cassia.ReservedMessages.Wanted;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.TaskCompletion;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.testkit.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Random commands of all kinds: what must hold holds after each, and a replay gives the same. */
class RandomCommandsTest {
    private record Step(Command<?> command, long nanos) {}

    /** Replica ids of the objects that no eviction may take, by tenant and key. */
    private static Map<String, Long> untouchable(CoreState state) {
        Map<String, Long> found = new HashMap<>();
        ObjectTable objects = state.objects;
        for (int slot = 1; slot <= objects.highestSlot(); slot++) {
            if (objects.isLive(slot)
                    && (objects.has(slot, ObjectTable.HARD_PIN | ObjectTable.IN_FLIGHT)
                            || objects.leaseCount(slot) > 0
                            || objects.readLeaseUntil(slot) > state.now)) {
                found.put(StatePicture.name(state, slot), objects.replicaId(slot));
            }
        }
        return found;
    }

    @Test
    void invariants_hold_after_every_command_and_a_replay_gives_the_same_state() {
        Seeds.forEach(
                12,
                seed -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    Harness.Settings settings = settings(random);
                    Harness first = new Harness(_ -> settings);
                    List<Step> log = new ArrayList<>();
                    Actor actor = new Actor(random, first);
                    for (String tenant : List.of("default", "other")) {
                        Command<?> command =
                                new Command.SetTenantQuota(
                                        ByteString.of(tenant), 4096 + random.nextInt(30_000));
                        log.add(new Step(command, first.now));
                        step(first, command, actor);
                    }
                    for (int i = 0; i < 1200; i++) {
                        first.sleep(actor.pause());
                        // So that what is over is over before the next command.
                        log.add(new Step(new Command.Stats(), first.now));
                        first.stats();
                        Command<?> command = actor.next();
                        log.add(new Step(command, first.now));
                        step(first, command, actor);
                    }
                    Harness second = new Harness(_ -> settings);
                    for (Step step : log) {
                        second.core.apply(step.command, step.nanos);
                    }
                    assertThat(second.core.digest()).isEqualTo(first.core.digest());
                    // And the digest sees a difference.
                    second.core.apply(new Command.Ping(new Uuid(7, 7)), second.now);
                    assertThat(second.core.digest()).isNotEqualTo(first.core.digest());
                });
    }

    private static void step(Harness master, Command<?> command, Actor actor) {
        Map<String, Long> before = untouchable(master.core.state());
        Args.PutStart put =
                switch (command) {
                    case Command.PutStart start -> start.args();
                    case Command.UpsertStart start -> start.args();
                    default -> null;
                };
        if (put != null) {
            before.remove(master.core.state().tenants.find(put.tenant()) + ":" + put.key());
        }
        StatePicture picture = StatePicture.of(master.core.state());
        Object answer = master.apply(command);
        picture.assertUnchangedIfRefused(command, answer, master.core.state());
        actor.learn(answer);
        CoreChecks.verify(master.core);
        if (put != null || command instanceof Command.Reserve) {
            assertThat(untouchable(master.core.state())).containsAllEntriesOf(before);
        }
    }

    private static Harness.Settings settings(SplittableRandom random) {
        Harness.Settings settings = new Harness.Settings();
        settings.lease = Duration.ofMillis(1 + random.nextInt(5000));
        settings.watermark = random.nextBoolean() ? 1.0 : 0.8;
        settings.evictSoftPinned = random.nextBoolean();
        settings.strategy = List.of(AllocationStrategy.values()).get(random.nextInt(4));
        settings.multiTenant = random.nextBoolean();
        settings.wipe = Duration.ofSeconds(10 + random.nextInt(30));
        settings.tasks = new TaskRules(4, 4, 4, 20_000_000_000L, 20_000_000_000L, 3);
        settings.policy = random.nextInt(3) == 0 ? EvictionPolicy.TWO_QUEUES : EvictionPolicy.LRU;
        settings.maxMetadata = random.nextBoolean() ? Long.MAX_VALUE : 12_000;
        settings.seed = random.nextLong();
        return settings;
    }

    /** Chooses commands that often make sense. */
    private static final class Actor {
        private final SplittableRandom random;
        private final Harness master;
        private final List<Uuid> tasks = new ArrayList<>();
        private final List<Uuid> jobs = new ArrayList<>();
        private final List<Long> leases = new ArrayList<>();
        private final List<Space> spaces = new ArrayList<>();
        private int unmounts;

        private record Space(long id, long length) {}

        Actor(SplittableRandom random, Harness master) {
            this.random = random;
            this.master = master;
        }

        void learn(Object answer) {
            if (answer instanceof List<?> list) {
                for (Object item : list) {
                    if (item instanceof TaskOrder order) {
                        tasks.add(order.id());
                    }
                }
            }
            if (answer instanceof Reserved reserved) {
                for (List<ReplicaDescriptor> space : reserved.spaces()) {
                    ReplicaDescriptor first = space.getFirst();
                    spaces.add(new Space(first.id(), RangeClaims.bufferOf(first).size()));
                }
            }
            if (answer instanceof Outcome.Ok<?>(Uuid id)) {
                jobs.add(id);
            }
            if (answer instanceof CassiaMessages.Acquired acquired && acquired.leaseId() != 0) {
                leases.add(acquired.leaseId());
            }
        }

        Duration pause() {
            return switch (random.nextInt(20)) {
                case 0 -> Duration.ofSeconds(random.nextInt(40));
                case 1, 2 -> Duration.ofMillis(random.nextInt(3000));
                default -> Duration.ofNanos(random.nextInt(2_000_000));
            };
        }

        private ByteString anyKey() {
            return key("k" + random.nextInt(60));
        }

        private ByteString anyTenant() {
            return random.nextInt(5) == 0 ? ByteString.of("other") : TENANT;
        }

        private Uuid anyClient() {
            return random.nextBoolean() ? A : B;
        }

        private ReplicateConfig anyConfig() {
            if (random.nextInt(4) == 0) {
                return GroupTest.in("g" + random.nextInt(4));
            }
            return Harness.config(
                    1 + random.nextInt(3),
                    random.nextInt(8) == 0 ? 1 : 0,
                    OptionalLong.empty(),
                    random.nextInt(25) == 0,
                    random.nextInt(3) == 0 ? "node-1" : "node-2");
        }

        private Args.PutStart anyPut() {
            long length = random.nextInt(10) == 0 ? 8 * KIB : 1 + random.nextLong(2 * KIB);
            return new Args.PutStart(anyClient(), anyKey(), length, anyConfig(), anyTenant());
        }

        private Segment anySegment() {
            int place = random.nextInt(4);
            // Who unmounted a segment mounts its memory under another id.
            int id = 1 + place + 4 * (unmounts / 8);
            return Harness.segment(
                    id, "node-" + (1 + place) % 3, (1L + place) << 32, (8L + 4L * place) * KIB);
        }

        Command<?> next() {
            return switch (random.nextInt(30)) {
                case 0, 1, 2, 3 -> new Command.PutStart(anyPut());
                case 4 -> new Command.UpsertStart(anyPut());
                case 5, 6, 7, 8 ->
                        new Command.PutEnd(
                                new Args.PutEnd(
                                        anyClient(),
                                        new ObjectMeta(anyKey(), OptionalLong.empty()),
                                        4,
                                        anyTenant()));
                case 9 ->
                        new Command.PutRevoke(
                                new Args.PutRevoke(anyClient(), anyKey(), 0, anyTenant()));
                case 10, 11 -> new Command.GetReplicaList(anyKey(), anyTenant());
                case 12 -> new Command.ExistKey(anyKey(), anyTenant());
                case 13 ->
                        new Command.Acquire(
                                new CassiaMessages.Acquire(
                                        List.of(anyKey(), anyKey(), anyKey()),
                                        anyTenant(),
                                        random.nextBoolean(),
                                        random.nextInt(3) * 700L));
                case 14 ->
                        new Command.Release(
                                leases.isEmpty()
                                        ? List.of()
                                        : List.of(leases.remove(random.nextInt(leases.size()))));
                case 15 -> new Command.Remove(anyKey(), random.nextBoolean(), anyTenant());
                case 16 -> new Command.Ping(anyClient());
                case 17, 18 -> mountOrUnmount();
                case 19 -> rare();
                case 20 -> new Command.Stats();
                case 21, 22, 23 -> copyOrMove();
                case 24 -> taskOrJob();
                case 25 -> tenant();
                case 26, 27 -> reservation();
                default -> new Command.Tick();
            };
        }

        private Command<?> reservation() {
            int choice = random.nextInt(5);
            if (choice < 2) {
                List<Long> lengths = new ArrayList<>();
                for (int i = 1 + random.nextInt(3); i > 0; i--) {
                    lengths.add(1 + random.nextLong(2 * KIB));
                }
                return new Command.Reserve(
                        anyClient(), anyTenant(), new Wanted(lengths, anyConfig()));
            }
            if (choice == 2 || spaces.isEmpty()) {
                List<Long> some = spaces.isEmpty() ? List.of(7L) : List.of(anySpace().id());
                return new Command.GiveBack(new GiveBack(anyClient(), some));
            }
            Space one = anySpace();
            Space other = anySpace();
            WrittenObject[] written = new WrittenObject[2];
            for (int i = 0; i < 2; i++) {
                written[i] = new WrittenObject(anyKey(), OptionalLong.empty(), ByteString.EMPTY);
            }
            return new Command.Commit(
                    new Commit(
                            anyClient(),
                            List.of(written),
                            List.of(one.length(), other.length()),
                            List.of(one.id(), other.id()),
                            Harness.config(
                                    1 + random.nextInt(2),
                                    random.nextInt(8) == 0 ? 1 : 0,
                                    OptionalLong.empty(),
                                    random.nextInt(25) == 0),
                            random.nextBoolean(),
                            anyTenant(),
                            Wanted.NOTHING));
        }

        /** One of the last ones. */
        private Space anySpace() {
            return spaces.get(spaces.size() - 1 - random.nextInt(Math.min(6, spaces.size())));
        }

        private String anyName() {
            return "node-" + random.nextInt(3);
        }

        private Command<?> copyOrMove() {
            Args.ClientKey end = new Args.ClientKey(anyClient(), anyKey(), anyTenant());
            return switch (random.nextInt(8)) {
                case 0 ->
                        new Command.CopyStart(
                                new Args.CopyStart(
                                        end.client(),
                                        end.key(),
                                        end.tenant(),
                                        anyName(),
                                        List.of(anyName(), anyName())));
                case 1, 2 ->
                        new Command.MoveStart(
                                new Args.MoveStart(
                                        end.client(),
                                        end.key(),
                                        end.tenant(),
                                        anyName(),
                                        anyName()));
                case 3, 4 -> new Command.CopyEnd(end);
                case 5 -> new Command.MoveEnd(end);
                case 6 -> new Command.CopyRevoke(end);
                default -> new Command.MoveRevoke(end);
            };
        }

        private Command<?> taskOrJob() {
            return switch (random.nextInt(7)) {
                case 0 ->
                        new Command.CreateCopyTask(
                                new Args.CreateCopyTask(anyKey(), anyTenant(), List.of(anyName())),
                                0);
                case 1 ->
                        new Command.CreateMoveTask(
                                new Args.CreateMoveTask(
                                        anyKey(), anyTenant(), anyName(), anyName()),
                                0);
                case 2, 3 ->
                        new Command.FetchTasks(new Args.FetchTasks(anyClient(), random.nextInt(3)));
                case 4 ->
                        new Command.MarkTaskToComplete(
                                new Args.MarkTaskToComplete(
                                        anyClient(),
                                        new TaskCompletion(
                                                anyId(tasks), 2 + random.nextInt(2), "")));
                case 5 ->
                        new Command.CreateDrainJob(
                                new CassiaMessages.CreateDrainJob(
                                        List.of(anyName()), List.of(), 1 + random.nextInt(3)),
                                0);
                default -> new Command.CancelDrainJob(anyId(jobs));
            };
        }

        private Uuid anyId(List<Uuid> ids) {
            return ids.isEmpty() ? new Uuid(0, 0) : ids.get(random.nextInt(ids.size()));
        }

        private Command<?> tenant() {
            return switch (random.nextInt(6)) {
                case 0 -> new Command.DeleteTenantQuota(anyTenant());
                case 1 -> new Command.TenantQuotas(ByteString.EMPTY);
                default -> new Command.SetTenantQuota(anyTenant(), 1 + random.nextInt(40_000));
            };
        }

        private Command<?> mountOrUnmount() {
            Segment segment = anySegment();
            int choice = random.nextInt(8);
            unmounts += choice < 2 ? 1 : 0;
            return switch (choice) {
                case 0 ->
                        new Command.UnmountSegment(
                                new Args.UnmountSegment(segment.id(), anyClient()));
                case 1 ->
                        new Command.GracefulUnmountSegment(
                                new Args.GracefulUnmountSegment(
                                        segment.id(), anyClient(), random.nextInt(3000)));
                case 2, 3 -> new Command.MountSegment(new Args.MountSegment(segment, anyClient()));
                default ->
                        new Command.ReMountSegment(
                                new Args.ReMountSegment(
                                        List.of(segment, anySegment()), anyClient()));
            };
        }

        private Command<?> rare() {
            Selection selection =
                    new Selection(
                            random.nextBoolean() ? Optional.empty() : Optional.of(anyTenant()),
                            random.nextBoolean()
                                    ? Optional.empty()
                                    : Optional.of(ByteString.of("k[1-3]$")));
            return switch (random.nextInt(4)) {
                case 0 -> new Command.RemoveSlice(selection, random.nextBoolean(), Cursor.START);
                case 1 -> new Command.GetSlice(selection, Cursor.START);
                case 2 ->
                        new Command.BatchReplicaClear(
                                new Args.BatchReplicaClear(
                                        List.of(anyKey(), anyKey()),
                                        anyClient(),
                                        random.nextBoolean() ? "" : "node-1"));
                default -> new Command.Ping(new Uuid(master.now, random.nextLong()));
            };
        }
    }
}
