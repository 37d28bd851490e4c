package io.cassia.master.core;

import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Confined to the simulation. Ranges of nodes' memory that somebody may still read or write by what
 * the master told him: nobody else may be given them.
 */
final class RangeClaims {
    private record Claim(
            long from, long to, long untilNanos, long holder, boolean writes, String why) {}

    private final Map<String, List<Claim>> byEndpoint = new HashMap<>();

    /** Violations of the master's promise; a text that says whose. */
    void give(
            List<ReplicaDescriptor> replicas, long now, long untilNanos, long holder, String why) {
        for (ReplicaDescriptor replica : replicas) {
            BufferDescriptor buffer = bufferOf(replica);
            List<Claim> claims = claims(buffer);
            claims.removeIf(claim -> claim.untilNanos <= now);
            long to = buffer.address() + buffer.size();
            for (Claim claim : claims) {
                if (claim.from < to && buffer.address() < claim.to) {
                    throw new AssertionError(
                            "%s gets %s [%x, %x), which is %s until %d us, now %d us"
                                    .formatted(
                                            why,
                                            buffer.transportEndpoint(),
                                            buffer.address(),
                                            to,
                                            claim.why,
                                            claim.untilNanos / 1000,
                                            now / 1000));
                }
            }
            claims.add(new Claim(buffer.address(), to, untilNanos, holder, true, why));
        }
    }

    /** Somebody may read the replicas for a while. */
    void lease(List<ReplicaDescriptor> replicas, long untilNanos, long holder, String why) {
        for (ReplicaDescriptor replica : replicas) {
            BufferDescriptor buffer = bufferOf(replica);
            long to = buffer.address() + buffer.size();
            claims(buffer).add(new Claim(buffer.address(), to, untilNanos, holder, false, why));
        }
    }

    /** The holder does not read or write any more. */
    void giveBack(long holder, boolean writes) {
        for (List<Claim> claims : byEndpoint.values()) {
            Iterator<Claim> each = claims.iterator();
            while (each.hasNext()) {
                Claim claim = each.next();
                if (claim.holder == holder && claim.writes == writes) {
                    each.remove();
                }
            }
        }
    }

    /** Nobody is held to what was promised. */
    void forget() {
        byEndpoint.clear();
    }

    private List<Claim> claims(BufferDescriptor buffer) {
        return byEndpoint.computeIfAbsent(buffer.transportEndpoint(), _ -> new ArrayList<>());
    }

    static BufferDescriptor bufferOf(ReplicaDescriptor replica) {
        return ((Placement.Memory) replica.placement()).buffer();
    }
}
