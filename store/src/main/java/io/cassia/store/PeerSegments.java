package io.cassia.store;

import io.cassia.status.Outcome;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferEngine;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Handles of the segments that replicas live in, opened once per endpoint. Guarded by the map. A
 * handle survives a restart of its node, so nothing is ever dropped; nodes are few.
 */
final class PeerSegments {
    private final TransferEngine engine;
    private final ConcurrentHashMap<String, SegmentHandle> byEndpoint = new ConcurrentHashMap<>();

    PeerSegments(TransferEngine engine) {
        this.engine = engine;
    }

    Outcome<SegmentHandle> open(String endpoint) {
        SegmentHandle known = byEndpoint.get(endpoint);
        if (known != null) {
            return Outcome.ok(known);
        }
        Outcome<SegmentHandle> opened = engine.openSegment(endpoint);
        if (opened instanceof Outcome.Ok<SegmentHandle>(SegmentHandle handle)) {
            byEndpoint.put(endpoint, handle);
        }
        return opened;
    }
}
