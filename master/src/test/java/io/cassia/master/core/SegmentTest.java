package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.MIB;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.detail;
import static io.cassia.master.core.Harness.ok;
import static io.cassia.master.core.Harness.segment;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ClientStatus;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class SegmentTest {
    private final Harness master = new Harness();

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    private Outcome<Done> mount(Segment segment, Uuid client) {
        return master.apply(new Command.MountSegment(new Args.MountSegment(segment, client)));
    }

    private Outcome<Done> remount(Uuid client, Segment... segments) {
        return master.apply(
                new Command.ReMountSegment(new Args.ReMountSegment(List.of(segments), client)));
    }

    private Outcome<Done> graceful(Segment segment, Uuid client, long millis) {
        return master.apply(
                new Command.GracefulUnmountSegment(
                        new Args.GracefulUnmountSegment(segment.id(), client, millis)));
    }

    private Outcome<SegmentStatus> status(Segment segment) {
        return master.apply(new Command.QuerySegmentStatusById(segment.id()));
    }

    private int ping(Uuid client) {
        return ok(master.ping(client)).clientStatus();
    }

    static Stream<Arguments> refusedMounts() {
        return Stream.of(
                Arguments.of("base 0", segment(1, "n", 0, MIB)),
                Arguments.of("size 0", segment(1, "n", MIB, 0)),
                Arguments.of("negative size", segment(1, "n", MIB, -1)),
                Arguments.of("wraps", segment(1, "n", -MIB, 2 * MIB)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusedMounts")
    void a_segment_that_cannot_be_is_refused(String name, Segment segment) {
        assertThat(code(mount(segment, A))).as(name).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(master.stats().segments()).isEmpty();
    }

    @Test
    void an_odd_segment_is_fine() {
        assertThat(code(mount(segment(1, "n", 12_884_905_984L, 5000), A))).isEqualTo(StoreCode.OK);
        assertThat(master.stats().capacityBytes()).isEqualTo(5000);
    }

    @Test
    void mounting_again_is_a_success_and_counts_once() {
        Segment segment = segment(1, "n", MIB, MIB);
        ok(mount(segment, A));
        ok(mount(segment, A));
        assertThat(master.stats().capacityBytes()).isEqualTo(MIB);
    }

    @Test
    void overlapping_ranges_of_one_endpoint_are_refused() {
        Segment first = new Segment(new Uuid(1, 1), "n", MIB, MIB, "h:1", "tcp", "");
        ok(mount(first, A));
        Segment overlapping = new Segment(new Uuid(2, 2), "n", 2 * MIB - 1, 5, "h:1", "tcp", "");
        assertThat(code(mount(overlapping, A))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(detail(mount(overlapping, B))).contains("overlaps segment 1-1 of client 1-2");
        Segment next = new Segment(new Uuid(2, 2), "n", 2 * MIB, 5, "h:1", "tcp", "");
        ok(mount(next, A));
        Segment elsewhere = new Segment(new Uuid(3, 3), "n", MIB, MIB, "h:2", "tcp", "");
        ok(mount(elsewhere, A));
        ok(master.unmount(first, A));
        Segment again = new Segment(new Uuid(4, 4), "n", MIB, MIB, "h:1", "tcp", "");
        ok(mount(again, B));
    }

    @Test
    void only_a_remount_makes_a_client_ok() {
        assertThat(ping(A)).isEqualTo(ClientStatus.NEED_REMOUNT.number());
        Segment segment = segment(1, "n", MIB, MIB);
        ok(mount(segment, A));
        assertThat(ping(A)).isEqualTo(ClientStatus.NEED_REMOUNT.number());
        assertThat(master.stats().clients()).isZero();
        ok(remount(A, segment));
        assertThat(ping(A)).isEqualTo(ClientStatus.OK.number());
        assertThat(master.stats().clients()).isEqualTo(1);
        ok(remount(B));
        assertThat(ping(B)).isEqualTo(ClientStatus.OK.number());
    }

    @Test
    void a_remount_mounts_what_is_missing() {
        ok(remount(A, segment(1, "n", MIB, MIB)));
        assertThat(master.stats().capacityBytes()).isEqualTo(MIB);
        // Already OK: nothing happens.
        ok(remount(A, segment(1, "n", MIB, MIB), segment(5, "n", 8 * MIB, MIB)));
        assertThat(master.stats().capacityBytes()).isEqualTo(MIB);
    }

    @Test
    void a_remount_with_other_fields_or_of_another_owner_fails_as_a_whole() {
        Segment segment = segment(1, "n", MIB, MIB);
        ok(mount(segment, A));
        Segment fresh = segment(9, "m", 64 * MIB, MIB);
        assertThat(code(remount(B, fresh, segment))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(remount(A, fresh, segment(1, "n", MIB, 2 * MIB))))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(master.stats().segments()).hasSize(1);
        assertThat(ping(A)).isEqualTo(ClientStatus.NEED_REMOUNT.number());
    }

    @Test
    void a_remount_leaves_out_what_cannot_be_mounted() {
        ok(remount(A, segment(1, "n", 0, MIB), segment(3, "n", MIB, MIB)));
        assertThat(master.stats().segments()).hasSize(1);
        assertThat(ping(A)).isEqualTo(ClientStatus.OK.number());
    }

    @Test
    void a_remount_takes_new_segments_back_when_one_is_in_a_wrong_state() {
        Segment leaving = segment(1, "n", MIB, MIB);
        ok(mount(leaving, A));
        ok(graceful(leaving, A, 1000));
        assertThat(code(remount(A, segment(9, "m", 64 * MIB, MIB), leaving)))
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        master.run(Duration.ofMillis(100), A);
        assertThat(master.stats().segments()).hasSize(1);
        assertThat(code(mount(leaving, A))).isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
    }

    @Test
    void unmounting_takes_the_objects_along() {
        Segment segment = master.mount(A, 11, "node-a:1", 16 * MIB);
        master.put("k", MIB);
        ok(master.get("k"));
        ok(master.unmount(segment, A));
        assertThat(code(master.get("k"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(ok(master.exist("k"))).isFalse();
        assertThat(code(status(segment))).isEqualTo(StoreCode.SEGMENT_NOT_FOUND);
        assertThat(master.stats().capacityBytes()).isZero();
        assertThat(master.stats().usedBytes()).isZero();
        assertThat(master.stats().objects()).isZero();
        assertThat(code(master.unmount(segment, A))).isEqualTo(StoreCode.OK);
    }

    @Test
    void an_object_with_a_replica_elsewhere_survives() {
        Segment first = master.mount(A, 11, "node-a:1", 16 * MIB);
        Segment second = master.mount(B, 13, "node-b:1", 16 * MIB);
        master.put("k", MIB, Harness.replicas(2));
        ok(master.unmount(first, A));
        assertThat(ok(master.get("k")).replicas()).hasSize(1);
        assertThat(master.stats().leasedBytes()).isEqualTo(MIB);
        CoreChecks.verify(master.core);
        ok(master.unmount(second, B));
        assertThat(code(master.get("k"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
    }

    @Test
    void a_put_in_flight_loses_the_replicas_of_a_dead_segment() {
        Segment first = master.mount(A, 11, "node-a:1", 16 * MIB);
        master.mount(B, 13, "node-b:1", 16 * MIB);
        ok(master.start(A, "two", MIB, Harness.replicas(2)));
        ok(
                master.start(
                        A,
                        "one",
                        MIB,
                        Harness.config(1, 0, OptionalLong.empty(), false, "node-a:1")));
        ok(master.unmount(first, A));
        ok(master.end(A, "two"));
        assertThat(ok(master.get("two")).replicas()).hasSize(1);
        assertThat(code(master.end(A, "one"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
    }

    @Test
    void many_objects_are_swept_in_slices_and_unreadable_at_once() {
        Segment segment = master.mount(A, 11, "node-a:1", 64 * MIB);
        for (int i = 0; i < 20_000; i++) {
            master.put("k" + i, KIB);
        }
        ok(master.unmount(segment, A));
        assertThat(code(master.get("k19999"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(master.stats().usedBytes()).isZero();
        assertThat(master.stats().objects()).isPositive();
        assertThat(ok(status(segment))).isEqualTo(SegmentStatus.UNMOUNTING);
        assertThat(code(mount(segment, A))).isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        assertThat(code(master.unmount(segment, A)))
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        // A key whose old object is not swept yet can be put again.
        master.mount(B, 13, "node-b:1", 16 * MIB);
        master.put("k19999", 5);
        CoreChecks.verify(master.core);
        assertThat(master.apply(new Command.Tick())).isTrue();
        master.run(Duration.ofMillis(100), A, B);
        assertThat(master.stats().objects()).isEqualTo(1);
        assertThat(ok(master.get("k19999")).replicas()).hasSize(1);
        assertThat(code(status(segment))).isEqualTo(StoreCode.SEGMENT_NOT_FOUND);
        ok(mount(renamed(segment, 12), A));
    }

    /** The same memory under another id, as clients mount it again. */
    private static Segment renamed(Segment segment, long id) {
        return new Segment(
                new Uuid(id, id),
                segment.name(),
                segment.base(),
                segment.size(),
                segment.teEndpoint(),
                segment.protocol(),
                segment.hostId());
    }

    @Test
    void a_mount_that_arrives_after_the_unmount_brings_nothing_back() {
        Segment segment = master.mount(A, 11, "node-a:1", 16 * MIB);
        ok(master.unmount(segment, A));
        assertThat(code(mount(segment, A))).isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        Segment overtaken = renamed(segment, 12);
        ok(master.unmount(overtaken, A));
        assertThat(code(mount(overtaken, A)))
                .as("the unmount came before the mount that it undoes")
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        ok(mount(renamed(segment, 13), A));
    }

    @Test
    void a_late_list_of_segments_mounts_none_when_one_was_unmounted() {
        Segment segment = master.mount(A, 11, "node-a:1", 16 * MIB);
        Segment other = new Segment(new Uuid(13, 13), "b", 1 << 30, MIB, "b", "tcp", "");
        ok(master.unmount(segment, A));
        master.run(Duration.ofSeconds(31));
        assertThat(code(remount(A, other, segment)))
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        assertThat(master.stats().segments()).isEmpty();
        ok(remount(A, other));
        master.run(Duration.ofSeconds(1201), A);
        ok(mount(segment, A));
    }

    @Test
    void a_segment_that_others_or_silence_unmounted_can_come_back() {
        Segment segment = master.mount(A, 11, "node-a:1", 16 * MIB);
        ok(master.unmount(segment, B));
        ok(mount(segment, A));
        master.run(Duration.ofSeconds(31));
        assertThat(master.stats().segments()).isEmpty();
        ok(remount(A, segment));
        ok(graceful(segment, A, 1000));
        master.run(Duration.ofSeconds(2), A);
        assertThat(code(mount(segment, A))).isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
    }

    @Test
    void a_foreign_unmount_is_done_and_counted() {
        Segment segment = master.mount(A, 11, "node-a:1", MIB);
        assertThat(code(master.unmount(segment, B))).isEqualTo(StoreCode.OK);
        assertThat(master.core.counters().of(CoreCount.FOREIGN_UNMOUNTS)).isEqualTo(1);
        assertThat(master.core.takeEffects())
                .contains(
                        new Effect.SegmentUnmounted(segment, A, B),
                        new Effect.SegmentSwept(segment));
        assertThat(master.core.takeEffects()).isEmpty();
    }

    @Test
    void a_graceful_unmount_keeps_objects_readable_until_its_end() {
        Segment segment = master.mount(A, 11, "node-a:1", 16 * MIB);
        master.put("k", MIB);
        assertThat(code(graceful(segment, B, 400))).isEqualTo(StoreCode.SEGMENT_NOT_FOUND);
        master.mount(B, 13, "node-b:1", MIB);
        assertThat(code(graceful(segment, B, 400))).isEqualTo(StoreCode.INVALID_PARAMS);
        ok(graceful(segment, A, 400));
        assertThat(ok(status(segment))).isEqualTo(SegmentStatus.GRACEFULLY_UNMOUNTING);
        assertThat(ok(master.get("k")).replicas()).hasSize(1);
        assertThat(code(master.start(A, "l", 2 * MIB))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        master.run(Duration.ofMillis(300), A, B);
        ok(graceful(segment, A, 400));
        master.run(Duration.ofMillis(300), A, B);
        assertThat(ok(master.get("k")).replicas()).hasSize(1);
        master.run(Duration.ofMillis(200), A, B);
        assertThat(code(master.get("k"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(code(status(segment))).isEqualTo(StoreCode.SEGMENT_NOT_FOUND);
    }

    @Test
    void statuses_are_found_by_name_and_by_id() {
        Segment segment = master.mount(A, 11, "node-a:1", MIB);
        assertThat(ok(status(segment))).isEqualTo(SegmentStatus.OK);
        assertThat(ok(master.apply(new Command.QuerySegmentStatus("node-a:1"))))
                .isEqualTo(SegmentStatus.OK);
        assertThat(code(master.apply(new Command.QuerySegmentStatus("none"))))
                .isEqualTo(StoreCode.SEGMENT_NOT_FOUND);
    }

    @Test
    void addresses_are_those_of_the_segments_endpoints() {
        ok(mount(new Segment(new Uuid(1, 1), "n", MIB, MIB, "10.0.0.1:99", "tcp", ""), A));
        ok(mount(new Segment(new Uuid(2, 2), "n", 9 * MIB, MIB, "10.0.0.1:98", "tcp", ""), A));
        ok(mount(new Segment(new Uuid(3, 3), "n", MIB, MIB, "[::1]:7", "tcp", ""), B));
        Map<Uuid, List<String>> found =
                master.apply(new Command.BatchQueryIp(List.of(A, B, new Uuid(99, 99))));
        assertThat(found).isEqualTo(Map.of(A, List.of("10.0.0.1"), B, List.of("::1")));
    }

    @Test
    void a_client_that_stops_pinging_loses_its_segments_after_the_time_to_live() {
        master.mount(A, 11, "node-a:1", 16 * MIB);
        master.mount(B, 13, "node-b:1", 16 * MIB);
        master.put("on-a", 10, Harness.config(1, 0, OptionalLong.empty(), false, "node-a:1"));
        master.put("on-b", 10, Harness.config(1, 0, OptionalLong.empty(), false, "node-b:1"));
        master.run(Duration.ofSeconds(10), A);
        assertThat(ok(master.exist("on-b"))).isTrue();
        master.run(Duration.ofMillis(200), A);
        assertThat(ok(master.exist("on-b"))).isFalse();
        assertThat(ok(master.exist("on-a"))).isTrue();
        assertThat(master.stats().clients()).isEqualTo(1);
        master.run(Duration.ofSeconds(20), A);
        assertThat(ping(B)).isEqualTo(ClientStatus.NEED_REMOUNT.number());
        assertThat(master.core.takeEffects())
                .anySatisfy(
                        effect ->
                                assertThat(effect)
                                        .isInstanceOfSatisfying(
                                                Effect.ClientExpired.class,
                                                expired -> {
                                                    assertThat(expired.client()).isEqualTo(B);
                                                    assertThat(expired.segments()).isEqualTo(1);
                                                }));
    }

    @Test
    void a_client_that_only_mounted_expires_too() {
        ok(mount(segment(1, "n", MIB, MIB), A));
        master.run(Duration.ofMillis(30_100));
        assertThat(master.stats().capacityBytes()).isZero();
    }

    @Test
    void a_stalled_master_expires_nobody_before_they_could_ping() {
        master.mount(A, 11, "node-a:1", 16 * MIB);
        master.put("k", 10);
        master.run(Duration.ofSeconds(3), A);
        // The process stands still for a minute: no tick, no ping.
        master.sleep(Duration.ofSeconds(60));
        master.apply(new Command.Tick());
        assertThat(ok(master.exist("k"))).isTrue();
        assertThat(master.core.takeEffects())
                .anySatisfy(e -> assertThat(e).isInstanceOf(Effect.TimerStalled.class));
        // From here on the remaining time to live counts.
        master.run(Duration.ofMillis(8_900));
        assertThat(ok(master.exist("k"))).isTrue();
        master.run(Duration.ofSeconds(2));
        assertThat(ok(master.exist("k"))).isFalse();
    }

    @Test
    void clients_have_a_limit() {
        Harness small =
                new Harness(
                        settings -> {
                            settings.maxClients = 2;
                            return settings;
                        });
        ok(small.ping(A));
        ok(small.ping(B));
        Uuid third = new Uuid(5, 6);
        assertThat(code(small.ping(third))).isEqualTo(StoreCode.INTERNAL_ERROR);
        assertThat(
                        code(
                                small.apply(
                                        new Command.MountSegment(
                                                new Args.MountSegment(
                                                        segment(1, "n", MIB, MIB), third)))))
                .isEqualTo(StoreCode.INTERNAL_ERROR);
        ok(small.ping(A));
        small.run(Duration.ofSeconds(11), A);
        ok(small.ping(third));
    }

    @Test
    void memory_that_is_mounted_again_is_given_to_nobody_while_an_old_reader_may_be_in_it() {
        Segment segment = master.mount(A, 11, "node-a:1", 4 * KIB);
        master.put("gap", KIB);
        master.put("k", KIB);
        ok(master.get("k"));
        ok(master.unmount(segment, A));
        ok(mount(renamed(segment, 12), A));
        assertThat(master.stats().usedBytes()).as("kept").isEqualTo(KIB);
        assertThat(code(master.start(A, "large", 3 * KIB)))
                .isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        master.put("fits before it", KIB);
        master.put("fits behind it", 2 * KIB);
        master.run(Duration.ofSeconds(11), A);
        assertThat(master.stats().usedBytes()).isEqualTo(3 * KIB);
        CoreChecks.verify(master.core);
    }
}
