package io.cassia.app.cluster;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.gateways.rest.SegmentHost;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.NodeConfig;
import io.cassia.store.StorageNode;
import io.cassia.store.StoreClientConfig;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Memory of a gateway's process in the pool, with a node that starts when it is first wanted.
 * Guarded.
 */
final class LentSegments implements SegmentHost, AutoCloseable {
    private static final int MOST = 256;

    private final StoreClientConfig cluster;
    private final Clock clock;
    private final MeterRegistry meters;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<String, Uuid> lent = new HashMap<>();

    @GuardedBy("lock")
    private Optional<StorageNode> node = Optional.empty();

    LentSegments(StoreClientConfig cluster, Clock clock, MeterRegistry meters) {
        this.cluster = cluster;
        this.clock = clock;
        this.meters = meters;
    }

    @Override
    public Outcome<List<String>> mount(long bytes) {
        lock.lock();
        try {
            if (lent.size() >= MOST) {
                return Outcome.failed(
                        StoreCode.NO_AVAILABLE_HANDLE,
                        MOST + " segments are lent already; give some back first");
            }
            Outcome<List<Uuid>> mounted = node().then(running -> running.mount(bytes));
            if (mounted instanceof Outcome.Ok<List<Uuid>>(List<Uuid> ids)) {
                for (Uuid id : ids) {
                    lent.put(id.toString(), id);
                }
            }
            return mounted.map(ids -> ids.stream().map(Uuid::toString).toList());
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Outcome<StorageNode> node() {
        if (node.isPresent()) {
            return Outcome.ok(node.get());
        }
        Outcome<StorageNode> started =
                StorageNode.start(
                        new NodeConfig(
                                        cluster.master(),
                                        cluster.metadata(),
                                        cluster.localName(),
                                        0,
                                        cluster.engine())
                                .withSecurity(cluster.security()),
                        clock,
                        meters);
        if (started instanceof Outcome.Ok<StorageNode>(StorageNode running)) {
            node = Optional.of(running);
        }
        return started;
    }

    /** Others are not kept waiting while the grace passes. */
    @Override
    public Outcome<Done> unmount(String segment, Duration grace) {
        Uuid id;
        StorageNode running;
        lock.lock();
        try {
            id = lent.get(segment);
            if (id == null || node.isEmpty()) {
                return Outcome.failed(
                        StoreCode.SEGMENT_NOT_FOUND,
                        "segment '" + segment + "' was not lent by this service");
            }
            running = node.get();
        } finally {
            lock.unlock();
        }
        Outcome<Done> unmounted = running.unmount(id, grace);
        if (unmounted.isOk()) {
            forget(segment);
        }
        return unmounted;
    }

    private void forget(String segment) {
        lock.lock();
        try {
            lent.remove(segment);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            node.ifPresent(StorageNode::close);
            node = Optional.empty();
        } finally {
            lock.unlock();
        }
    }
}
