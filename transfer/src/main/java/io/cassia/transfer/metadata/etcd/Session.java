package io.cassia.transfer.metadata.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.HostPort;
import io.cassia.transfer.metadata.MetadataAddress;
import io.cassia.transfer.metadata.MetadataOptions;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.support.CloseableClient;
import io.grpc.stub.StreamObserver;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One client of a cluster with the lease that its entries hang on. Guarded.
 *
 * <p>A session that lost its connection or its lease is thrown away as a whole: gRPC waits up to
 * two minutes before it tries a broken connection again, and entries of a lost lease must be
 * written again anyway.
 */
final class Session implements AutoCloseable {
    private static final int MAX_MESSAGE_BYTES = 32 << 20;

    private final Client client;
    private final ExecutorService threads;
    private final long ttlSeconds;
    private final Runnable whenLost;
    private final Map<String, Long> revisions = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private @Nullable CompletableFuture<Long> lease;

    @GuardedBy("lock")
    private @Nullable CloseableClient keeper;

    @GuardedBy("lock")
    private boolean closed;

    /**
     * A session; connects when it is first used.
     *
     * @param whenLost called when the lease is gone
     */
    Session(MetadataAddress.Etcd address, MetadataOptions options, Runnable whenLost) {
        this.threads = Executors.newVirtualThreadPerTaskExecutor();
        this.ttlSeconds = Math.ceilDiv(options.entryTtl().toMillis(), 1000L);
        this.whenLost = whenLost;
        this.client =
                Client.builder()
                        .endpoints(address.members().stream().map(Session::uri).toList())
                        .executorService(threads)
                        .connectTimeout(options.connectTimeout())
                        .keepaliveTime(Duration.ofSeconds(10))
                        .keepaliveTimeout(options.requestTimeout())
                        .maxInboundMessageSize(MAX_MESSAGE_BYTES)
                        .retryMaxAttempts(1)
                        // An unreachable cluster shall say why, and at once.
                        .waitForReady(false)
                        .build();
        // Loads the classes of the channel now, and not in the time of the first request.
        var _ = client.getKVClient();
        var _ = client.getLeaseClient();
    }

    private static URI uri(HostPort member) {
        return URI.create("http://" + member);
    }

    KV kv() {
        return client.getKVClient();
    }

    /** The lease, granted at the first call and kept alive from then on. */
    CompletableFuture<Long> lease() {
        lock.lock();
        try {
            if (lease == null) {
                Lease leases = client.getLeaseClient();
                lease =
                        leases.grant(ttlSeconds)
                                .thenApply(
                                        granted -> {
                                            keepAlive(leases, granted.getID());
                                            return granted.getID();
                                        });
            }
            return lease;
        } finally {
            lock.unlock();
        }
    }

    private void keepAlive(Lease leases, long id) {
        lock.lock();
        try {
            if (!closed) {
                keeper = leases.keepAlive(id, new LeaseObserver());
            }
        } finally {
            lock.unlock();
        }
    }

    private final class LeaseObserver implements StreamObserver<LeaseKeepAliveResponse> {
        @Override
        public void onNext(LeaseKeepAliveResponse response) {}

        @Override
        public void onError(Throwable cause) {
            whenLost.run();
        }

        @Override
        public void onCompleted() {
            whenLost.run();
        }
    }

    /** Remembers at which revision this session wrote a key. */
    void wrote(String key, long revision) {
        revisions.put(key, revision);
    }

    void forget(String key) {
        revisions.remove(key);
    }

    /** The revision at which this session wrote a key; nothing when it did not. */
    OptionalLong revision(String key) {
        Long revision = revisions.get(key);
        return revision == null ? OptionalLong.empty() : OptionalLong.of(revision);
    }

    /** Gives the lease back: what was written under it vanishes. Nothing to do without one. */
    CompletableFuture<?> revoke() {
        lock.lock();
        try {
            return lease == null
                    ? CompletableFuture.completedFuture("")
                    : lease.thenCompose(id -> client.getLeaseClient().revoke(id));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            if (keeper != null) {
                keeper.close();
            }
        } finally {
            lock.unlock();
        }
        client.close();
        threads.shutdown();
    }
}
