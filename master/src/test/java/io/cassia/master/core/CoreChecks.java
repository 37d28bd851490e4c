package io.cassia.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** What must hold in every state of the core. */
final class CoreChecks {
    private final CoreState state;
    private final ObjectTable objects;

    private CoreChecks(CoreState state) {
        this.state = state;
        this.objects = state.objects;
    }

    static void verify(MasterCore core) {
        CoreChecks checks = new CoreChecks(core.state());
        checks.sums();
        checks.owners();
        checks.lists();
        checks.index();
        checks.tenants();
    }

    private void sums() {
        long used = 0;
        long capacity = 0;
        for (MountedSegment segment : state.segments.all()) {
            segment.allocator.verify();
            if (segment.isReadable()) {
                used += segment.allocator.usedBytes();
                capacity += segment.allocator.capacityBytes();
            }
        }
        assertThat(state.segments.usedBytes()).as("used").isEqualTo(used);
        assertThat(state.segments.capacityBytes()).as("capacity").isEqualTo(capacity);
        long inFlight = 0;
        long reserved = 0;
        long pinned = 0;
        long counted = 0;
        long live = state.discards.bytes();
        for (int slot = 1; slot <= objects.highestSlot(); slot++) {
            if (!objects.isLive(slot)) {
                continue;
            }
            long bytes = objects.memoryBytes(slot);
            reserved += objects.isNamed(slot) ? 0 : bytes;
            if (!objects.has(slot, ObjectTable.COMPLETE)) {
                inFlight += bytes;
            } else if (objects.has(slot, ObjectTable.HARD_PIN)) {
                pinned += bytes;
            }
            if (objects.leaseCount(slot) > 0 && !objects.has(slot, ObjectTable.HARD_PIN)) {
                counted += bytes;
            }
            live += readableBytes(objects.segment(slot), objects.size(slot));
            ObjectExtra extra = objects.extra(slot);
            if (extra != null) {
                for (Replica replica : extra.replicas) {
                    live += readableBytes(replica.segment, objects.size(slot));
                }
                if (extra.replication != null) {
                    for (Replica target : extra.replication.targets) {
                        live += readableBytes(target.segment, objects.size(slot));
                        inFlight += objects.size(slot);
                    }
                }
                if (extra.upsert != null) {
                    for (Replica replica : extra.upsert.replicas) {
                        live += readableBytes(replica.segment, extra.upsert.size);
                        inFlight += extra.upsert.size;
                    }
                }
            }
        }
        assertThat(live).as("sum of live allocations").isEqualTo(used);
        assertThat(state.inFlightBytes).as("in flight").isEqualTo(inFlight);
        assertThat(state.reservedBytes).as("reserved").isEqualTo(reserved);
        assertThat(state.hardPinnedBytes).as("hard pinned").isEqualTo(pinned);
        assertThat(state.leases.bytes()).as("counted leases").isEqualTo(counted);
    }

    private long readableBytes(int segment, long size) {
        return state.segments.at(segment).isReadable() ? size : 0;
    }

    /** Each allocation belongs to the object that its owner says, or awaits its release. */
    private void owners() {
        Map<Long, Integer> claimed = new HashMap<>();
        for (int slot = 1; slot <= objects.highestSlot(); slot++) {
            if (!objects.isLive(slot)) {
                continue;
            }
            claim(
                    claimed,
                    objects.segment(slot),
                    objects.allocation(slot),
                    objects.size(slot),
                    slot);
            ObjectExtra extra = objects.extra(slot);
            if (extra == null) {
                continue;
            }
            assertThat(extra.isEmpty()).as("an empty extra is dropped").isFalse();
            if (extra.group != null) {
                assertThat(extra.group.members).contains(slot);
                assertThat(extra.group.members).allMatch(objects::isLive);
            }
            Set<String> names = new HashSet<>();
            names.add(nameOf(objects.segment(slot)));
            for (Replica replica : extra.replicas) {
                claim(claimed, replica.segment, replica.allocation, objects.size(slot), slot);
                assertThat(names.add(nameOf(replica.segment))).as("names differ").isTrue();
            }
            if (extra.replication != null) {
                for (Replica target : extra.replication.targets) {
                    claim(claimed, target.segment, target.allocation, objects.size(slot), slot);
                    assertThat(names.add(nameOf(target.segment))).as("target differs").isTrue();
                }
            }
            if (extra.upsert != null) {
                for (Replica replica : extra.upsert.replicas) {
                    claim(claimed, replica.segment, replica.allocation, extra.upsert.size, slot);
                }
            }
        }
        for (MountedSegment segment : state.segments.all()) {
            OffsetAllocator allocator = segment.allocator;
            for (long at = allocator.nextAllocation(0);
                    at != 0;
                    at = allocator.nextAllocation(at)) {
                Integer owner = claimed.remove(place(segment.index, allocator.offset(at)));
                assertThat(allocator.owner(at)).isEqualTo(owner == null ? 0 : owner);
            }
        }
        assertThat(claimed).as("objects without an allocation").isEmpty();
    }

    private String nameOf(int segment) {
        return state.segments.at(segment).wire.name();
    }

    private void claim(
            Map<Long, Integer> claimed, int segment, long allocation, long size, int slot) {
        OffsetAllocator allocator = state.segments.at(segment).allocator;
        assertThat(allocator.isLive(allocation)).as("slot %d lives", slot).isTrue();
        assertThat(allocator.length(allocation)).isEqualTo(size);
        Integer before = claimed.put(place(segment, allocator.offset(allocation)), slot);
        assertThat(before).as("two objects at one place").isNull();
    }

    private static long place(int segment, long offset) {
        return ((long) segment << 44) + offset;
    }

    private void lists() {
        int listed = 0;
        long readLeased = 0;
        for (int list = RecencyLists.IDLE; list <= RecencyLists.NEW; list++) {
            int previous = 0;
            boolean leased = false;
            for (int slot = state.recency.head(list); slot != 0; slot = objects.next(slot)) {
                assertThat(objects.isLive(slot)).isTrue();
                assertThat(objects.list(slot)).isEqualTo(list);
                assertThat(objects.previous(slot)).isEqualTo(previous);
                assertThat(objects.has(slot, ObjectTable.IN_FLIGHT))
                        .isEqualTo(list == RecencyLists.IN_FLIGHT);
                if (slot == state.recency.firstLeased()) {
                    leased = true;
                }
                assertThat(objects.has(slot, ObjectTable.SUMMED))
                        .as("slot %d of list %d counts as leased", slot, list)
                        .isEqualTo(leased && list == RecencyLists.READ);
                if (objects.has(slot, ObjectTable.SUMMED)) {
                    readLeased += objects.memoryBytes(slot);
                }
                previous = slot;
                listed++;
            }
        }
        long waiting = 0;
        for (int slot = state.recency.head(RecencyLists.NEW); slot != 0; ) {
            waiting += objects.memoryBytes(slot);
            slot = objects.next(slot);
        }
        assertThat(state.recency.newBytes()).as("waiting").isEqualTo(waiting);
        int unlisted = 0;
        for (int slot = 1; slot <= objects.highestSlot(); slot++) {
            if (objects.isLive(slot) && objects.list(slot) == RecencyLists.NO_LIST) {
                assertThat(
                                objects.leaseCount(slot) > 0
                                        || objects.has(
                                                slot,
                                                ObjectTable.HARD_PIN | ObjectTable.REPLICATING))
                        .as("slot %d in no list", slot)
                        .isTrue();
                unlisted++;
            }
        }
        assertThat(listed + unlisted).isEqualTo(objects.count() + state.reserved.size());
        assertThat(state.recency.readLeasedBytes()).as("read leased").isEqualTo(readLeased);
    }

    /** What tenants are charged is what their objects take, and each knows its own objects. */
    private void tenants() {
        Map<Integer, Long> charged = new HashMap<>();
        Map<Integer, Long> reserved = new HashMap<>();
        Map<Integer, Set<Integer>> own = new HashMap<>();
        Set<Integer> replicating = new HashSet<>();
        for (int slot = 1; slot <= objects.highestSlot(); slot++) {
            if (!objects.isLive(slot)) {
                continue;
            }
            long bytes = objects.memoryBytes(slot);
            if (!objects.isNamed(slot)) {
                reserved.merge(objects.tenant(slot), bytes, Long::sum);
            }
            ObjectExtra extra = objects.extra(slot);
            if (extra != null && extra.upsert != null) {
                bytes += extra.upsert.size * extra.upsert.replicas.size();
            }
            if (extra != null && extra.replication != null) {
                bytes += objects.size(slot) * extra.replication.targets.size();
                replicating.add(slot);
            }
            assertThat(objects.has(slot, ObjectTable.REPLICATING))
                    .isEqualTo(replicating.contains(slot));
            charged.merge(objects.tenant(slot), bytes, Long::sum);
            own.computeIfAbsent(objects.tenant(slot), t -> new HashSet<>()).add(slot);
        }
        assertThat(state.replications.keySet()).isEqualTo(replicating);
        for (int tenant = 0; tenant < 8; tenant++) {
            if (!state.tenants.isNamed(tenant)) {
                continue;
            }
            assertThat(state.tenants.charged(tenant))
                    .as("charge of tenant %d", tenant)
                    .isEqualTo(charged.getOrDefault(tenant, 0L));
            assertThat(state.tenants.reserved(tenant))
                    .as("reserved for tenant %d", tenant)
                    .isEqualTo(reserved.getOrDefault(tenant, 0L));
            if (state.tenants.isEnabled()) {
                Set<Integer> ordered = new HashSet<>();
                int slot = state.tenantOrder.head(tenant);
                for (; slot != 0; slot = state.tenantOrder.next(slot)) {
                    assertThat(ordered.add(slot)).as("no circle").isTrue();
                }
                assertThat(ordered).isEqualTo(own.getOrDefault(tenant, Set.of()));
            }
        }
    }

    private void index() {
        int live = 0;
        int reserved = 0;
        for (int slot = 1; slot <= objects.highestSlot(); slot++) {
            if (objects.isLive(slot) && !objects.isNamed(slot)) {
                assertThat(state.reserved).containsValue(slot);
                assertThat(objects.flags(slot) & (ObjectTable.IN_FLIGHT | ObjectTable.COMPLETE))
                        .isEqualTo(ObjectTable.IN_FLIGHT);
                assertThat(state.tenants.isNamed(objects.tenant(slot))).isTrue();
                reserved++;
            } else if (objects.isLive(slot)) {
                assertThat(objects.find(objects.tenant(slot), objects.key(slot))).isEqualTo(slot);
                assertThat(state.tenants.isNamed(objects.tenant(slot))).isTrue();
                live++;
            }
        }
        assertThat(objects.count()).isEqualTo(live);
        assertThat(state.reserved).hasSize(reserved);
    }
}
