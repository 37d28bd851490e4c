package io.cassia.master.core;

import io.cassia.rpc.mooncake.Uuid;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Confined to the master's lock. Segments that clients have asked to unmount, for a time: a mount
 * of the same segment by the same client that arrives later was sent before. It would bring back
 * memory that is gone, and the client's own pings would keep it.
 */
final class UnmountedSegments {
    /** Beyond it the oldest are forgotten. */
    static final int MOST = 16_384;

    private record Unmounted(Uuid segment, Uuid client) {}

    /** When each is forgotten, the earliest first. */
    private final Map<Unmounted, Long> until = new LinkedHashMap<>();

    void add(Uuid segment, Uuid client, long untilNanos) {
        Unmounted unmounted = new Unmounted(segment, client);
        until.remove(unmounted);
        until.put(unmounted, untilNanos);
        if (until.size() > MOST) {
            until.remove(until.keySet().iterator().next());
        }
    }

    boolean contains(Uuid segment, Uuid client, long now) {
        Long end = until.get(new Unmounted(segment, client));
        return end != null && end > now;
    }

    /** Forgets what is over. */
    void expire(long now) {
        Iterator<Long> ends = until.values().iterator();
        while (ends.hasNext() && ends.next() <= now) {
            ends.remove();
        }
    }

    void digest(Digest digest) {
        until.forEach(
                (unmounted, end) -> {
                    digest.add(unmounted.segment);
                    digest.add(unmounted.client);
                    digest.add(end);
                });
    }
}
