package io.cassia.transfer.metadata;

import io.cassia.base.Clock;
import io.cassia.base.HostPort;
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
    private final Publication publication;
    private final Clock clock;

    /**
     * A directory; nothing is written before {@link #publish}.
     *
     * @param store the store, which this directory owns from now on
     * @param name this engine's segment
     * @param endpoint where this engine listens
     * @param descriptor text of this engine's descriptor
     */
    public StoreDirectory(
            MetadataStore store,
            MetadataOptions options,
            String name,
            RpcMeta endpoint,
            Supplier<String> descriptor,
            Clock clock,
            MeterRegistry meters) {
        this.store = store;
        this.keys = MetadataKeys.of(options.cluster());
        this.publication = new Publication(store, options, name, endpoint, descriptor, meters);
        this.clock = clock;
    }

    /** Writes endpoint and segment, and keeps them from the first success on. */
    @Override
    public Outcome<Done> publish() {
        return publication.publish();
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
