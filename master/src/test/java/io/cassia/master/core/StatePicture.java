package io.cassia.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Immutable. All that users can notice of a state, to show that a command which was refused has
 * changed nothing. What making room does in vain is documented: objects may be evicted, others put
 * aside in the order of eviction. Numbers that are only used up (ids, random ones) and counts are
 * not in it.
 */
record StatePicture(
        Map<String, String> objects,
        Map<String, String> segments,
        List<String> order,
        List<Long> charged,
        long evictionRuns,
        boolean dying) {
    static StatePicture of(CoreState state) {
        Map<String, String> objects = new TreeMap<>();
        List<Long> charged = new ArrayList<>();
        boolean dying = false;
        Map<String, String> segments = new TreeMap<>();
        for (MountedSegment segment : state.segments.all()) {
            dying |= !segment.isReadable();
            segments.put(
                    segment.wire.id().toString(),
                    segment.wire
                            + " "
                            + segment.client
                            + segment.status()
                            + segment.suspected
                            + segment.graceUntil);
        }
        for (int slot = 1; slot <= state.objects.highestSlot(); slot++) {
            if (state.objects.isLive(slot)) {
                objects.put(name(state, slot), describe(state, slot));
            }
        }
        for (int tenant = 0; tenant < 8; tenant++) {
            charged.add(state.tenants.isNamed(tenant) ? state.tenants.charged(tenant) : -1);
        }
        List<String> order = new ArrayList<>();
        for (int list = RecencyLists.IDLE; list <= RecencyLists.NEW; list++) {
            order.add("list " + list);
            for (int slot = state.recency.head(list); slot != 0; slot = state.objects.next(slot)) {
                order.add(name(state, slot));
            }
        }
        long runs = state.counters.of(CoreCount.EVICTIONS_ATTEMPTED);
        return new StatePicture(objects, segments, order, charged, runs, dying);
    }

    static String name(CoreState state, int slot) {
        return state.objects.isNamed(slot)
                ? state.objects.tenant(slot) + ":" + ByteString.wrap(state.objects.key(slot))
                : "space " + slot;
    }

    private static String describe(CoreState state, int slot) {
        ObjectTable objects = state.objects;
        Digest extra = new Digest();
        ObjectExtra some = objects.extra(slot);
        if (some != null) {
            some.digest(extra);
        }
        return "flags=%d %d %d %d size=%d by=%s at=%d/%d id=%d stamp=%d leases=%d %d %d extra=%x"
                .formatted(
                        flag(objects, slot, ObjectTable.COMPLETE),
                        flag(objects, slot, ObjectTable.IN_FLIGHT),
                        flag(objects, slot, ObjectTable.HARD_PIN),
                        flag(objects, slot, ObjectTable.UPSERT_LOST),
                        objects.size(slot),
                        objects.writer(slot),
                        objects.segment(slot),
                        objects.allocation(slot),
                        objects.replicaId(slot),
                        objects.stamp(slot),
                        objects.leaseCount(slot),
                        objects.readLeaseUntil(slot),
                        objects.existLeaseUntil(slot),
                        extra.value());
    }

    private static int flag(ObjectTable objects, int slot, int flag) {
        return objects.has(slot, flag) ? 1 : 0;
    }

    /** Checks that a command has changed nothing, if it was refused. */
    void assertUnchangedIfRefused(Command<?> command, Object answer, CoreState state) {
        if (!(answer instanceof Outcome.Failed<?> failed)
                || dying
                || endsWhatIsLost(command, failed)) {
            return;
        }
        StatePicture after = of(state);
        String what = command + " was refused: " + failed.code();
        assertThat(after.segments).as(what).isEqualTo(segments);
        if (after.evictionRuns == evictionRuns) {
            assertThat(after.objects).as(what).isEqualTo(objects);
            assertThat(after.order).as(what).isEqualTo(order);
            assertThat(after.charged).as(what).isEqualTo(charged);
        } else {
            assertThat(objects).as(what).containsAllEntriesOf(after.objects);
        }
    }

    /** The End of a write or copy whose space or source is gone says so and ends it. */
    private static boolean endsWhatIsLost(Command<?> command, Outcome.Failed<?> failed) {
        return switch (command) {
            case Command.PutEnd _, Command.PutRevoke _ -> failed.code() == StoreCode.INVALID_WRITE;
            case Command.CopyEnd _, Command.MoveEnd _ -> failed.code() == StoreCode.REPLICA_IS_GONE;
            default -> false;
        };
    }
}
