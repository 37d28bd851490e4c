package io.cassia.transfer.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Peers are found through a metadata store (spec 5.2, 5.6). Guarded.
 *
 * <p>The engine writes its endpoint, then its segment, and both again every {@link #REFRESH}: that
 * keeps the entries young, and fills a store that was restarted empty. What a predecessor of the
 * same name left in the store is overwritten and never read: its ranges are not ours. When a later
 * engine takes the name, this one stops writing, so that the two do not overwrite each other in
 * turns.
 */
public final class StoreDirectory implements PeerDirectory {
    /** How often the entries are written again. */
    public static final Duration REFRESH = Duration.ofSeconds(10);

    private static final System.Logger LOG = System.getLogger(StoreDirectory.class.getName());

    private final MetadataStore store;
    private final MetadataKeys keys;
    private final String name;
    private final String endpoint;
    private final Supplier<String> descriptor;
    private final Duration refresh;
    private final Clock clock;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private boolean published;

    @GuardedBy("lock")
    private boolean closed;

    /**
     * A directory; nothing is written before {@link #publish}.
     *
     * @param cluster part of the keys, or empty
     * @param name this engine's segment
     * @param endpoint where this engine listens
     * @param descriptor text of this engine's descriptor
     * @param refresh how often to write again; {@link #REFRESH}
     */
    public StoreDirectory(
            MetadataStore store,
            String cluster,
            String name,
            RpcMeta endpoint,
            Supplier<String> descriptor,
            Duration refresh,
            Clock clock) {
        this.store = store;
        this.keys = MetadataKeys.of(cluster);
        this.name = name;
        this.endpoint = DescriptorCodec.encode(endpoint);
        this.descriptor = descriptor;
        this.refresh = refresh;
        this.clock = clock;
    }

    /** Writes endpoint and segment, and keeps doing so from the first success on. */
    @Override
    public Outcome<Done> publish() {
        // One writer at a time: a descriptor must not be overwritten by an older one.
        lock.lock();
        try {
            if (closed) {
                return Outcome.failed(TransferCode.ERR_METADATA, "segment " + name + " is closed");
            }
            Outcome<Done> outcome = write();
            if (outcome.isOk() && !published) {
                published = true;
                Thread.ofVirtual().name("cassia-metadata-refresh").start(this::refresh);
            }
            return outcome;
        } finally {
            lock.unlock();
        }
    }

    /** The endpoint first: the store refuses it when the name belongs to somebody else by now. */
    private Outcome<Done> write() {
        return store.put(keys.rpcMeta(name), endpoint)
                .then(_ -> store.put(keys.segment(name), descriptor.get()));
    }

    private void refresh() {
        try {
            while (!stop.await(refresh.toNanos(), TimeUnit.NANOSECONDS)) {
                rewrite();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void rewrite() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (write() instanceof Outcome.Failed<Done>(var code, String detail)) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "metadata-not-refreshed segment={0} code={1} detail=\"{2}\"",
                        name,
                        code.label(),
                        detail);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Outcome<Peer> find(String peer, long deadlineNanos) {
        return require(keys.segment(peer), "segment " + peer + " is not published", deadlineNanos)
                .then(text -> DescriptorCodec.decode(text, "segment " + peer))
                .then(
                        found ->
                                require(
                                                keys.rpcMeta(found.name()),
                                                "engine of segment " + peer + " is not published",
                                                deadlineNanos)
                                        .then(
                                                text ->
                                                        DescriptorCodec.decodeRpcMeta(
                                                                text, "engine of segment " + peer))
                                        .map(
                                                meta ->
                                                        new Peer(
                                                                found,
                                                                new HostPort(
                                                                        meta.host(),
                                                                        meta.rpcPort()))));
    }

    private Outcome<String> require(String key, String absent, long deadlineNanos) {
        return store.find(key, Duration.ofNanos(deadlineNanos - clock.nanos()))
                .then(
                        (Optional<String> value) ->
                                value.isPresent()
                                        ? Outcome.ok(value.get())
                                        : Outcome.failed(
                                                TransferCode.ERR_METADATA,
                                                absent + " (key " + key + ")"));
    }

    /**
     * Removes the entries, unless the name belongs to a later engine: the endpoint first, as
     * upstream does it (spec 20.5).
     */
    @Override
    public void close() {
        stop.countDown();
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            if (published && isOwner()) {
                withdraw(keys.rpcMeta(name));
                withdraw(keys.segment(name));
            }
            store.close();
        } finally {
            lock.unlock();
        }
    }

    private boolean isOwner() {
        return store.find(keys.rpcMeta(name), REFRESH)
                        instanceof Outcome.Ok<Optional<String>>(var present)
                && present.isPresent()
                && present.get().equals(endpoint);
    }

    private void withdraw(String key) {
        if (store.remove(key) instanceof Outcome.Failed<Done>(var code, String detail)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "metadata-not-withdrawn key={0} code={1} detail=\"{2}\"",
                    key,
                    code.label(),
                    detail);
        }
    }
}
