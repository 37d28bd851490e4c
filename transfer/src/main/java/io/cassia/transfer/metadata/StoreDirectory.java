package io.cassia.transfer.metadata;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Peers are found through a metadata store (spec 5.2, 5.6). Guarded.
 *
 * <p>This engine's own entries are those of a {@link Publication}. A peer's two entries are written
 * one after the other: those of different incarnations are never put together, since the ranges of
 * one are not those of the other.
 */
public final class StoreDirectory implements PeerDirectory {
    private static final int MAX_READS = 3;

    private final MetadataStore store;
    private final MetadataKeys keys;
<<<<<<< HEAD
    private final Publication publication;
=======
    private final String name;
    private final String endpoint;
    private final Supplier<String> descriptor;
    private final Duration refresh;
>>>>>>> wt-transfer
    private final Clock clock;

    /**
     * A directory; nothing is written before {@link #publish}.
     *
     * @param store the store, which this directory owns from now on
     * @param name this engine's segment
     * @param endpoint where this engine listens
     * @param descriptor text of this engine's descriptor
     * @param refresh how often to write again; {@link #REFRESH}
     */
    public StoreDirectory(
            MetadataStore store,
            MetadataOptions options,
            String name,
            RpcMeta endpoint,
            Supplier<String> descriptor,
<<<<<<< HEAD
            Clock clock,
            MeterRegistry meters) {
        this.store = store;
        this.keys = MetadataKeys.of(options.cluster());
        this.publication = new Publication(store, options, name, endpoint, descriptor, meters);
=======
            Duration refresh,
            Clock clock) {
        this.store = store;
        this.keys = MetadataKeys.of(cluster);
        this.name = name;
        this.endpoint = DescriptorCodec.encode(endpoint);
        this.descriptor = descriptor;
        this.refresh = refresh;
>>>>>>> wt-transfer
        this.clock = clock;
    }

    /** Writes endpoint and segment, and keeps them from the first success on. */
    @Override
    public Outcome<Done> publish() {
<<<<<<< HEAD
        return publication.publish();
=======
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
>>>>>>> wt-transfer
    }

    @Override
    public Outcome<Peer> find(String peer, long deadlineNanos) {
        for (int i = 0; i < MAX_READS; i++) {
            switch (read(peer, deadlineNanos)) {
                case Outcome.Failed<Optional<Peer>> failed -> {
                    return failed.as();
                }
                case Outcome.Ok<Optional<Peer>>(Optional<Peer> found) -> {
                    if (found.isPresent()) {
                        return Outcome.ok(found.get());
                    }
                }
            }
        }
        return Outcome.failed(
                TransferCode.ERR_METADATA,
                "segment %s and its engine are of different starts: it restarts just now, or died"
                                .formatted(peer)
                        + " while it did; try again");
    }

    /** The peer; nothing when its entries do not belong together. */
    private Outcome<Optional<Peer>> read(String peer, long deadlineNanos) {
        return require(keys.segment(peer), "segment " + peer + " is not published", deadlineNanos)
                .then(text -> DescriptorCodec.decode(text, "segment " + peer))
                .then(found -> withEndpoint(peer, found, deadlineNanos));
    }

    private Outcome<Optional<Peer>> withEndpoint(
            String peer, SegmentDescriptor found, long deadlineNanos) {
        String key = keys.rpcMeta(found.name());
        return require(key, "engine of segment " + peer + " is not published", deadlineNanos)
                .then(text -> DescriptorCodec.decodeRpcMeta(text, "engine of segment " + peer))
                .map(meta -> together(found, meta));
    }

    private static Optional<Peer> together(SegmentDescriptor found, RpcMeta meta) {
        boolean torn =
                found.incarnation().isPresent()
                        && meta.incarnation().isPresent()
                        && !found.incarnation().equals(meta.incarnation());
        return torn
                ? Optional.empty()
                : Optional.of(new Peer(found, new HostPort(meta.host(), meta.rpcPort())));
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

    /** Removes the entries, unless the name belongs to a later engine, and closes the store. */
    @Override
    public void close() {
        publication.close();
        store.close();
    }
}
