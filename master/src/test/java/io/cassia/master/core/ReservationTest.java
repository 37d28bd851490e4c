package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.TENANT;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.config;
import static io.cassia.master.core.Harness.key;
import static io.cassia.master.core.Harness.ok;
import static io.cassia.master.core.Harness.replicas;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.Acquire;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.cassia.ReservedMessages.Commit;
import io.cassia.rpc.cassia.ReservedMessages.GiveBack;
import io.cassia.rpc.cassia.ReservedMessages.Reserved;
import io.cassia.rpc.cassia.ReservedMessages.Wanted;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Space that is reserved before it has a key (docs/adr/0067). */
class ReservationTest {
    private static final ReplicateConfig PLAIN = ReplicateConfig.DEFAULT;
    private static final Duration RELEASE = Duration.ofMinutes(10);

    private static final long POOL = 256 * KIB;

    private Harness master = new Harness();
    private Segment segment = master.mount(A, 11, "a", POOL);

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    private void restart(Consumer<Harness.Settings> change) {
        master =
                new Harness(
                        settings -> {
                            change.accept(settings);
                            return settings;
                        });
        segment = master.mount(A, 11, "a", POOL);
    }

    private Reserved reserve(Uuid client, ReplicateConfig config, Long... lengths) {
        return master.apply(
                new Command.Reserve(client, TENANT, new Wanted(List.of(lengths), config)));
    }

    /** The one space of so many bytes for A. */
    private ReplicaDescriptor space(long bytes) {
        List<List<ReplicaDescriptor>> spaces = reserve(A, PLAIN, bytes).spaces();
        assertThat(spaces).hasSize(1);
        return spaces.getFirst().getFirst();
    }

    private static WrittenObject written(String key) {
        return new WrittenObject(key(key), OptionalLong.empty(), ByteString.EMPTY);
    }

    private Outcome<Long> commit(String key, ReplicaDescriptor space) {
        return commit(A, written(key), RangeClaims.bufferOf(space).size(), space.id(), PLAIN);
    }

    private Outcome<Long> commit(
            Uuid client, WrittenObject object, long length, long space, ReplicateConfig config) {
        return commit(client, object, length, space, config, false);
    }

    private Outcome<Long> commit(
            Uuid client,
            WrittenObject object,
            long length,
            long space,
            ReplicateConfig config,
            boolean upsert) {
        return master.apply(
                        new Command.Commit(
                                new Commit(
                                        client,
                                        List.of(object),
                                        List.of(length),
                                        List.of(space),
                                        config,
                                        upsert,
                                        TENANT,
                                        Wanted.NOTHING)))
                .getFirst();
    }

    private void giveBack(Uuid client, ReplicaDescriptor space) {
        master.apply(new Command.GiveBack(new GiveBack(client, List.of(space.id()))));
    }

    private long used() {
        return master.stats().usedBytes();
    }

    @Test
    void reserved_space_is_in_use_but_no_object() {
        ReplicaDescriptor space = space(10 * KIB);
        assertThat(used()).isEqualTo(10 * KIB);
        assertThat(master.core.state().inFlightBytes).isEqualTo(10 * KIB);
        assertThat(master.stats().objects()).isZero();
        assertThat(ok(master.exist(""))).isFalse();
        assertThat(code(master.get(""))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        TreeMap<ByteString, io.cassia.rpc.cassia.CassiaMessages.KeyInfo> page = new TreeMap<>();
        ListKeys all = new ListKeys(ByteString.EMPTY, ByteString.EMPTY, 10, TENANT);
        assertThat(master.core.list(all, Cursor.START, page, master.now)).isEmpty();
        assertThat(page).isEmpty();
        assertThat(master.removeAll(Optional.of(TENANT), Optional.empty(), true)).isZero();
        assertThat(master.removeAll(Optional.of(TENANT), Optional.of(".*"), true)).isZero();
        ok(commit("k", space));
        assertThat(master.stats().objects()).isEqualTo(1);
    }

    @Test
    void a_commit_makes_an_object_of_what_was_written_there() {
        master.core.keepEvents(10);
        ReplicaDescriptor space = space(30 * KIB);
        ByteString sums = ByteString.wrap(new byte[] {1, 2, 3, 4});
        WrittenObject object = new WrittenObject(key("k"), OptionalLong.of(77), sums);
        long version = ok(commit(A, object, 30 * KIB, space.id(), config(1, 1, ms(500), false)));
        ReplicaDescriptor read = ok(master.get("k")).replicas().getFirst();
        assertThat(read.placement()).isEqualTo(space.placement());
        assertThat(ok(master.get("k")).objectChecksum()).hasValue(77);
        var checked =
                master.apply(
                                new Command.AcquireChecked(
                                        new Acquire(List.of(key("k")), TENANT, false, 0)))
                        .objects()
                        .getFirst();
        assertThat(ok(checked).version()).isEqualTo(version).isPositive();
        assertThat(ok(checked).sums()).isEqualTo(sums);
        assertThat(master.core.takeEvents(10))
                .containsExactly(new ObjectEvent(true, TENANT, key("k"), ByteString.EMPTY));
        assertThat(master.core.state().inFlightBytes).isZero();
        int slot = master.core.state().objects.find(0, key("k").array());
        assertThat(master.core.state().objects.extra(slot)).isNotNull();
        assertThat(used()).isEqualTo(30 * KIB);
        master.run(RELEASE.plusSeconds(1), A);
        assertThat(ok(master.exist("k"))).isTrue();
    }

    private static OptionalLong ms(long millis) {
        return OptionalLong.of(millis);
    }

    @Test
    void an_upsert_commit_replaces_what_has_the_key() {
        master.put("k", 5 * KIB);
        ReplicaDescriptor space = space(7 * KIB);
        ok(commit(A, written("k"), 7 * KIB, space.id(), PLAIN, true));
        assertThat(ok(master.get("k")).replicas().getFirst().placement())
                .isEqualTo(space.placement());
        assertThat(used()).isEqualTo(7 * KIB);
        assertThat(master.stats().objects()).isEqualTo(1);
        // One of somebody else in flight is preempted, as by another start.
        ok(master.upsert(B, "k", KIB));
        ReplicaDescriptor next = space(3 * KIB);
        ok(commit(A, written("k"), 3 * KIB, next.id(), PLAIN, true));
        assertThat(code(master.end(B, "k"))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
        master.run(RELEASE.plusSeconds(1), A);
        assertThat(used()).isEqualTo(3 * KIB);
    }

    static Stream<Arguments> refusals() {
        String longKey = "k".repeat(PutRules.LONGEST_KEY + 1);
        return Stream.of(
                Arguments.of("a complete object", "there", PLAIN, false),
                Arguments.of("in flight by another", "flying", PLAIN, false),
                Arguments.of("no key", "", PLAIN, false),
                Arguments.of("a long key", longKey, PLAIN, false),
                Arguments.of("a long pin", "k", config(1, 1, ms(86_400_001), false), false),
                Arguments.of("a pin time alone", "k", config(1, 0, ms(1), false), false),
                Arguments.of("no replica", "k", replicas(0), false),
                Arguments.of("in another group", "grouped", grouped("h"), true),
                Arguments.of("being copied", "copied", PLAIN, true));
    }

    private static ReplicateConfig grouped(String group) {
        return new ReplicateConfig(
                1,
                0,
                0,
                0,
                OptionalLong.empty(),
                false,
                List.of(),
                "",
                List.of(),
                false,
                0,
                "",
                Optional.of(List.of(key(group))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusals")
    void a_commit_is_refused_as_a_start_would_be_and_its_space_is_free(
            String name, String key, ReplicateConfig config, boolean upsert) {
        Segment other = master.mount(B, 13, "b", 64 * KIB);
        master.put("there", KIB);
        ok(master.start(B, "flying", KIB));
        master.put("grouped", KIB, grouped("g"));
        master.put("copied", KIB, config(1, 0, OptionalLong.empty(), false, "a"));
        ok(
                master.apply(
                        new Command.CopyStart(
                                new Args.CopyStart(
                                        A, key("copied"), TENANT, "a", List.of(other.name())))));
        Outcome<List<ReplicaDescriptor>> started =
                upsert
                        ? master.upsert(A, key, 2 * KIB, config)
                        : master.start(A, key, 2 * KIB, config);
        long before = used();
        ReplicaDescriptor space = space(2 * KIB);
        Outcome<Long> committed = commit(A, written(key), 2 * KIB, space.id(), config, upsert);
        assertThat(code(committed)).as(name).isEqualTo(code(started)).isNotEqualTo(StoreCode.OK);
        assertThat(used()).isEqualTo(before);
        assertThat(code(commit("k", space))).as("consumed").isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(ok(master.exist("there"))).isTrue();
    }

    @Test
    void a_commit_takes_an_unfinished_put_over_when_a_start_may() {
        ok(master.start(B, "k", KIB));
        master.sleep(Duration.ofSeconds(31));
        ok(commit("k", space(2 * KIB)));
        assertThat(code(master.end(B, "k"))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
        assertThat(used()).as("the other may still write").isEqualTo(3 * KIB);
        master.run(RELEASE, A);
        assertThat(used()).isEqualTo(2 * KIB);
    }

    @Test
    void wrong_sums_are_refused_before_anything_happens() {
        ReplicaDescriptor space = space(2 * KIB);
        WrittenObject object =
                new WrittenObject(key("k"), OptionalLong.empty(), ByteString.of("12345678"));
        assertThat(code(commit(A, object, 2 * KIB, space.id(), PLAIN)))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(master.stats().objects()).isZero();
        assertThat(used()).isZero();
    }

    @Test
    void each_object_of_a_commit_has_its_own_outcome() {
        master.put("there", KIB);
        List<List<ReplicaDescriptor>> spaces = reserve(A, PLAIN, KIB, 2 * KIB, 3 * KIB).spaces();
        List<Long> ids = new ArrayList<>(spaces.stream().map(s -> s.getFirst().id()).toList());
        giveBack(A, spaces.get(2).getFirst());
        Commit commit =
                new Commit(
                        A,
                        List.of(written("a"), written("there"), written("c")),
                        List.of(KIB, 2 * KIB, 3 * KIB),
                        ids,
                        PLAIN,
                        false,
                        TENANT,
                        Wanted.NOTHING);
        assertThat(master.apply(new Command.Commit(commit)))
                .extracting(Harness::code)
                .containsExactly(
                        StoreCode.OK, StoreCode.OBJECT_ALREADY_EXISTS, StoreCode.INVALID_WRITE);
        assertThat(used()).isEqualTo(2 * KIB);
        Commit uneven =
                new Commit(
                        A,
                        List.of(written("d"), written("e")),
                        List.of(KIB, KIB),
                        List.of(space(KIB).id()),
                        PLAIN,
                        false,
                        TENANT,
                        Wanted.NOTHING);
        assertThat(master.apply(new Command.Commit(uneven)))
                .extracting(Harness::code)
                .containsExactly(StoreCode.INVALID_PARAMS, StoreCode.INVALID_PARAMS);
        assertThat(used()).as("its spaces are free too").isEqualTo(2 * KIB);
    }

    @Test
    void only_its_client_may_commit_or_give_back_and_only_as_long_as_it_is() {
        ReplicaDescriptor space = space(2 * KIB);
        assertThat(code(commit(B, written("k"), 2 * KIB, space.id(), PLAIN)))
                .isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(code(commit(A, written("k"), KIB, space.id(), PLAIN)))
                .as("another length")
                .isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(code(commit(A, written("k"), 2 * KIB, space.id() + 1, PLAIN)))
                .isEqualTo(StoreCode.INVALID_WRITE);
        giveBack(B, space);
        assertThat(used()).isEqualTo(2 * KIB);
        giveBack(A, space);
        assertThat(used()).isZero();
        giveBack(A, space);
        assertThat(code(commit("k", space))).isEqualTo(StoreCode.INVALID_WRITE);
        // The put that has the number of a space is no space.
        ReplicaDescriptor put = ok(master.start(A, "p", KIB)).getFirst();
        giveBack(A, put);
        assertThat(code(commit(A, written("k"), KIB, put.id(), PLAIN)))
                .isEqualTo(StoreCode.INVALID_WRITE);
        ok(master.end(A, "p"));
    }

    @Test
    void a_repeated_commit_has_no_effect() {
        ReplicaDescriptor space = space(KIB);
        ok(commit("k", space));
        assertThat(code(commit("k", space))).isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(code(commit("l", space))).isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(ok(master.exist("k"))).isTrue();
        assertThat(used()).isEqualTo(KIB);
    }

    @Test
    void space_of_a_client_that_is_not_heard_of_again_is_free_after_the_release_timeout() {
        ReplicaDescriptor space = space(2 * KIB);
        master.run(RELEASE.minusSeconds(1), A);
        assertThat(used()).isEqualTo(2 * KIB);
        master.run(Duration.ofSeconds(2), A);
        assertThat(used()).isZero();
        assertThat(code(commit("k", space))).isEqualTo(StoreCode.INVALID_WRITE);
    }

    @Test
    void space_on_an_unmounted_segment_is_gone_and_kept_from_the_next_one_there() {
        ReplicaDescriptor space = space(2 * KIB);
        ok(master.unmount(segment, A));
        assertThat(code(commit("k", space))).isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(master.core.state().reserved).isEmpty();
        Segment again =
                new Segment(
                        new Uuid(99, 1),
                        "a2",
                        segment.base(),
                        segment.size(),
                        segment.teEndpoint(),
                        "tcp",
                        "");
        ok(master.apply(new Command.MountSegment(new Args.MountSegment(again, A))));
        assertThat(used()).as("somebody may still write there").isEqualTo(2 * KIB);
        master.run(RELEASE.plusSeconds(1), A);
        assertThat(used()).isZero();
    }

    @Test
    void nothing_is_committed_where_a_start_would_not_go_any_more() {
        master.mount(B, 13, "b", 64 * KIB);
        ReplicaDescriptor leaving = only("a");
        ReplicaDescriptor silent = only("b");
        ok(
                master.apply(
                        new Command.CreateDrainJob(
                                new CreateDrainJob(List.of("a"), List.of(), 1), 0)));
        assertThat(code(commit("k", leaving))).isEqualTo(StoreCode.INVALID_WRITE);
        master.run(Duration.ofSeconds(11), A);
        assertThat(code(commit("k", silent))).isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(used()).isZero();
    }

    private ReplicaDescriptor only(String name) {
        ReplicateConfig there = config(1, 0, OptionalLong.empty(), false, name);
        return reserve(A, there, KIB).spaces().getFirst().getFirst();
    }

    @Test
    void a_drain_ends_when_reserved_space_is_given_back() {
        master.mount(B, 13, "b", 64 * KIB);
        ReplicaDescriptor space = only("a");
        Uuid job =
                ok(
                        master.apply(
                                new Command.CreateDrainJob(
                                        new CreateDrainJob(List.of("a"), List.of(), 1), 0)));
        master.run(Duration.ofSeconds(3), A, B);
        assertThat(ok(master.apply(new Command.QueryDrainJob(job))).message())
                .contains("being-written");
        giveBack(A, space);
        master.run(Duration.ofSeconds(3), A, B);
        assertThat(ok(master.apply(new Command.QueryDrainJob(job))).status())
                .isEqualTo(DrainJob.Status.SUCCEEDED.number);
    }

    @Test
    void a_commit_has_as_many_replicas_as_a_start_would_give() {
        assertThat(reserve(A, replicas(2), KIB).spaces().getFirst())
                .as("as many as there can be")
                .hasSize(1);
        ReplicaDescriptor alone = reserve(A, replicas(2), KIB).spaces().getFirst().getFirst();
        Segment other = master.mount(B, 13, "b", 64 * KIB);
        assertThat(code(commit(A, written("k"), KIB, alone.id(), replicas(2))))
                .isEqualTo(StoreCode.INVALID_WRITE);
        List<ReplicaDescriptor> both = reserve(A, replicas(2), KIB).spaces().getFirst();
        assertThat(both).hasSize(2);
        ok(commit(A, written("k"), KIB, both.getFirst().id(), replicas(2)));
        assertThat(ok(master.get("k")).replicas()).hasSize(2);
        // Without its first replica a space keeps its name, and is enough where there is one node.
        List<ReplicaDescriptor> torn = reserve(A, replicas(2), KIB).spaces().getFirst();
        boolean firstIsOther =
                RangeClaims.bufferOf(torn.getFirst())
                        .transportEndpoint()
                        .equals(other.teEndpoint());
        ok(firstIsOther ? master.unmount(other, B) : master.unmount(segment, A));
        ok(commit(A, written("l"), KIB, torn.getFirst().id(), replicas(2)));
        assertThat(ok(master.get("l")).replicas()).hasSize(1);
    }

    @Test
    void all_that_is_wanted_is_reserved_or_nothing() {
        master.put("hard", POOL - 30 * KIB, Harness.hardPinned());
        assertThat(reserve(A, PLAIN, 16 * KIB, 16 * KIB)).isEqualTo(Reserved.NOTHING);
        assertThat(used()).isEqualTo(POOL - 30 * KIB);
        ok(master.remove("hard", true));
        assertThat(reserve(A, PLAIN)).isEqualTo(Reserved.NOTHING);
        assertThat(reserve(A, PLAIN, 0L)).isEqualTo(Reserved.NOTHING);
        assertThat(reserve(A, PLAIN, -1L, 5L)).isEqualTo(Reserved.NOTHING);
        assertThat(reserve(A, replicas(0), KIB)).isEqualTo(Reserved.NOTHING);
        assertThat(reserve(A, PLAIN, Wanted.MOST_BYTES + 1)).isEqualTo(Reserved.NOTHING);
        assertThat(
                        reserve(
                                A,
                                PLAIN,
                                Stream.generate(() -> 1L)
                                        .limit(Wanted.MOST_OBJECTS + 1)
                                        .toArray(Long[]::new)))
                .isEqualTo(Reserved.NOTHING);
        assertThat(used()).isZero();
        CoreCounters counters = master.core.counters();
        assertThat(counters.of(CoreCount.PUT_ALLOCATION_FAILURES)).isZero();
        assertThat(counters.of(CoreCount.EVICTIONS_FRUITLESS)).isZero();
        assertThat(master.core.takeEffects())
                .noneMatch(effect -> effect instanceof Effect.EvictionFruitless);
        Reserved both = reserve(A, PLAIN, 10 * KIB, 20 * KIB);
        assertThat(both.spaces()).hasSize(2);
        assertThat(both.ttlMs()).isEqualTo(2000);
    }

    @Test
    void an_eighth_of_the_pool_is_reserved_at_most() {
        assertThat(reserve(A, PLAIN, POOL / 8 + 1)).isEqualTo(Reserved.NOTHING);
        ReplicaDescriptor space = space(POOL / 8 - KIB);
        assertThat(reserve(B, PLAIN, KIB + 1)).isEqualTo(Reserved.NOTHING);
        assertThat(reserve(B, PLAIN, KIB).spaces()).hasSize(1);
        ok(commit("k", space));
        assertThat(reserve(B, PLAIN, POOL / 8 - KIB).spaces()).hasSize(1);
        master.mount(B, 13, "b", POOL);
        assertThat(reserve(A, replicas(2), POOL / 16 + 1)).isEqualTo(Reserved.NOTHING);
        assertThat(reserve(A, replicas(2), POOL / 16).spaces().getFirst()).hasSize(2);
    }

    @Test
    void space_is_reserved_at_the_cost_of_what_nothing_protects_and_of_nothing_else() {
        master.put("leased", 60 * KIB);
        master.put("asked", 60 * KIB);
        master.put("soft", 60 * KIB, Harness.softPinned(3_600_000));
        master.put("hard", 60 * KIB, Harness.hardPinned());
        master.put("cold", 12 * KIB);
        ok(master.get("leased"));
        ok(master.exist("asked"));
        assertThat(reserve(A, PLAIN, 14 * KIB).spaces()).hasSize(1);
        assertThat(ok(master.exist("cold"))).isFalse();
        assertThat(reserve(A, PLAIN, 12 * KIB)).isEqualTo(Reserved.NOTHING);
        for (String kept : List.of("leased", "asked", "soft", "hard")) {
            assertThat(ok(master.exist(kept))).as(kept).isTrue();
        }
        // A write that waits may override the weak ones.
        ok(master.start(A, "k", 12 * KIB));
        assertThat(ok(master.exist("asked"))).isFalse();
    }

    @Test
    void a_put_does_not_evict_reserved_space() {
        ReplicaDescriptor space = space(32 * KIB);
        master.put("k", 20 * KIB);
        assertThat(code(master.start(A, "l", 230 * KIB))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        ok(commit("m", space));
        ok(master.start(A, "l", 230 * KIB));
    }

    @Test
    void reserved_space_counts_for_its_tenant() {
        restart(settings -> settings.multiTenant = true);
        assertThat(reserve(A, PLAIN, KIB)).as("not registered").isEqualTo(Reserved.NOTHING);
        master.quota("default", 64 * KIB);
        assertThat(reserve(A, PLAIN, 8 * KIB + 1)).as("too much").isEqualTo(Reserved.NOTHING);
        ReplicaDescriptor space = space(6 * KIB);
        assertThat(charged()).isEqualTo(6 * KIB);
        assertThat(code(master.start(A, "k", 60 * KIB))).isEqualTo(StoreCode.TENANT_QUOTA_EXCEEDED);
        ok(commit("k", space));
        assertThat(charged()).isEqualTo(6 * KIB);
        master.put("l", 54 * KIB);
        // At its quota a tenant gives its own cold objects, but none that it has asked for.
        ReplicaDescriptor next = space(6 * KIB);
        assertThat(ok(master.exist("k"))).isFalse();
        assertThat(ok(master.exist("l"))).isTrue();
        assertThat(reserve(B, PLAIN, 2 * KIB + 1)).as("too much").isEqualTo(Reserved.NOTHING);
        master.put("n", 4 * KIB);
        assertThat(ok(master.exist("n"))).isTrue();
        assertThat(reserve(B, PLAIN, 2 * KIB)).isEqualTo(Reserved.NOTHING);
        assertThat(master.core.counters().of(CoreCount.TENANT_REJECTS)).isEqualTo(1);
        assertThat(charged()).isEqualTo(64 * KIB);
        master.quota("default", 5 * KIB);
        assertThat(code(commit("m", next))).isEqualTo(StoreCode.TENANT_QUOTA_EXCEEDED);
        assertThat(charged()).isEqualTo(58 * KIB);
        master.quota("default", 64 * KIB);
        master.quota("t2", 64 * KIB);
        ReplicaDescriptor other = space(KIB);
        Commit elsewhere =
                new Commit(
                        A,
                        List.of(written("m")),
                        List.of(KIB),
                        List.of(other.id()),
                        PLAIN,
                        false,
                        ByteString.of("t2"),
                        Wanted.NOTHING);
        assertThat(code(master.apply(new Command.Commit(elsewhere)).getFirst()))
                .isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(charged()).as("still there").isEqualTo(59 * KIB);
    }

    private long charged() {
        return ok(master.apply(new Command.TenantQuotas(TENANT))).getFirst().chargedBytes();
    }

    @Test
    void a_tenant_with_nothing_but_reserved_space_can_be_deleted() {
        restart(settings -> settings.multiTenant = true);
        master.quota("default", 64 * KIB);
        ReplicaDescriptor space = space(6 * KIB);
        ok(master.apply(new Command.DeleteTenantQuota(TENANT)));
        assertThat(code(commit("k", space))).isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(used()).as("its client may be writing").isEqualTo(6 * KIB);
        master.run(RELEASE.plusSeconds(1), A);
        assertThat(used()).isZero();
    }

    @Test
    void the_limits_of_objects_and_heap_are_looked_at_when_there_is_an_object() {
        restart(settings -> settings.maxObjects = 2);
        master.put("a", KIB);
        master.put("b", KIB);
        ReplicaDescriptor space = space(KIB);
        assertThat(master.stats().objects()).isEqualTo(2);
        ok(commit("c", space));
        assertThat(master.stats().objects()).isEqualTo(2);
        assertThat(ok(master.exist("a"))).isFalse();
        restart(settings -> settings.maxMetadata = Space.metadataBytes(1) + 10);
        master.put("a", KIB);
        assertThat(reserve(A, PLAIN, KIB)).isEqualTo(Reserved.NOTHING);
        ok(master.remove("a", true));
        ok(commit("d", space(KIB)));
    }

    @Test
    void space_of_a_dead_client_is_its_no_more_but_free_only_in_time() {
        Uuid pinging = new Uuid(5, 6);
        ok(master.ping(pinging));
        ReplicaDescriptor space = reserve(pinging, PLAIN, 2 * KIB).spaces().getFirst().getFirst();
        master.run(Duration.ofSeconds(12), A);
        assertThat(code(commit(pinging, written("k"), 2 * KIB, space.id(), PLAIN)))
                .isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(master.core.state().inFlightBytes).isZero();
        assertThat(used()).isEqualTo(2 * KIB);
        master.run(RELEASE, A);
        assertThat(used()).isZero();
    }

    @Test
    void a_number_of_another_master_means_nothing() {
        ReplicaDescriptor space = space(KIB);
        Harness first = master;
        restart(settings -> settings.seed = 43);
        ReplicaDescriptor own = space(KIB);
        assertThat(code(commit("k", space))).isEqualTo(StoreCode.INVALID_WRITE);
        ok(commit("k", own));
        CoreChecks.verify(first.core);
    }
}
