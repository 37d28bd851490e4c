package io.cassia.app.cluster;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.gateways.rest.FilePart;
import io.cassia.gateways.rest.SegmentHost;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.NodeConfig;
import io.cassia.store.StorageNode;
import io.cassia.store.StoreClientConfig;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Memory of a gateway's process, and files of others, in the pool, with a node that starts when
 * something is first lent. Guarded.
 */
final class LentSegments implements SegmentHost, AutoCloseable {
    private static final int MOST = 256;

    private final StoreClientConfig cluster;
    private final Clock clock;
    private final MeterRegistry meters;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private Optional<StorageNode> node = Optional.empty();

    LentSegments(StoreClientConfig cluster, Clock clock, MeterRegistry meters) {
        this.cluster = cluster;
        this.clock = clock;
        this.meters = meters;
    }

    @Override
    public Outcome<List<String>> mount(long bytes) {
        return mount(running -> running.mount(bytes));
    }

    @Override
    public Outcome<List<String>> mount(FilePart part) {
        return mount(running -> running.mount(part.file(), part.offsetBytes(), part.lengthBytes()));
    }

    private Outcome<List<String>> mount(Function<StorageNode, Outcome<List<Uuid>>> what) {
        lock.lock();
        try {
            if (node.isPresent() && node.get().segments().size() >= MOST) {
                return Outcome.failed(
                        StoreCode.NO_AVAILABLE_HANDLE,
                        MOST + " segments are lent already; give some back first");
            }
            return node().then(what).map(ids -> ids.stream().map(Uuid::toString).toList());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public List<String> lent() {
        return running()
                .map(node -> node.segments().stream().map(lent -> lent.id().toString()).toList())
                .orElse(List.of());
    }

    private Optional<StorageNode> running() {
        lock.lock();
        try {
            return node;
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
        Optional<StorageNode> running = running();
        Optional<Uuid> id =
                running.stream()
                        .flatMap(node -> node.segments().stream())
                        .map(Segment::id)
                        .filter(lent -> lent.toString().equals(segment))
                        .findFirst();
        return id.isEmpty()
                ? Outcome.failed(
                        StoreCode.SEGMENT_NOT_FOUND,
                        "segment '" + segment + "' is not lent by this service")
                : running.get().unmount(id.get(), grace);
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
