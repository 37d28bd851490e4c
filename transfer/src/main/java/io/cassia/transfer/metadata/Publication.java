package io.cassia.transfer.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The two entries of one engine in a metadata store, kept as the engine wants them. Guarded.
 *
 * <pre>
 *   NEW ── publish ──► PUBLISHED ── a later engine takes the name ──► SUPERSEDED
 *    └──────────────────────┴──────────── close ───────────────────────► CLOSED
 * </pre>
 *
 * <p>At every heartbeat the endpoint is looked at. Gone: the store lost its data, and both entries
 * are written again. Ours: both are kept, which renews their time to live. Somebody else's: an
 * engine of a higher incarnation is our successor, so this one stops writing for good; anything
 * else is a leftover or a plant, and is overwritten. What stands in the store under our own name is
 * never read into the engine: its ranges are not ours.
 */
public final class Publication implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Publication.class.getName());

    private static final int MAX_SHOWN_CHARS = 200;

    /** Where a publication is in its life. */
    public enum State {
        NEW,
        PUBLISHED,
        SUPERSEDED,
        CLOSED
    }

    private final MetadataStore store;
    private final MetadataOptions options;
    private final String name;
    private final String endpointKey;
    private final String segmentKey;
    private final RpcMeta endpoint;
    private final String endpointText;
    private final Supplier<String> descriptor;
    private final PublicationMetrics metrics;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private State state = State.NEW;

    /** As written last, since each encoding has a new timestamp; empty when that failed. */
    @GuardedBy("lock")
    private String descriptorText = "";

    @GuardedBy("lock")
    private boolean failing;

    /**
     * A publication; nothing is written before {@link #publish}.
     *
     * @param name this engine's segment
     * @param endpoint where this engine listens, with its incarnation
     * @param descriptor text of this engine's descriptor
     */
    public Publication(
            MetadataStore store,
            MetadataOptions options,
            String name,
            RpcMeta endpoint,
            Supplier<String> descriptor,
            MeterRegistry meters) {
        MetadataKeys keys = MetadataKeys.of(options.cluster());
        this.store = store;
        this.options = options;
        this.name = name;
        this.endpointKey = keys.rpcMeta(name);
        this.segmentKey = keys.segment(name);
        this.endpoint = endpoint;
        this.endpointText = DescriptorCodec.encode(endpoint);
        this.descriptor = descriptor;
        this.metrics = new PublicationMetrics(meters);
    }

    /**
     * Writes endpoint and segment, and keeps them from the first success on. ERR_METADATA when the
     * store fails or refuses, and when the name belongs to a later engine.
     */
    public Outcome<Done> publish() {
        // One writer at a time: a descriptor must not be overwritten by an older one.
        lock.lock();
        try {
            return switch (state) {
                case NEW, PUBLISHED -> {
                    Outcome<Done> outcome = write();
                    if (outcome.isOk() && state == State.NEW) {
                        state = State.PUBLISHED;
                        Thread.ofVirtual().name("cassia-metadata-heartbeat").start(this::run);
                    }
                    yield outcome;
                }
                case SUPERSEDED ->
                        failed("a later engine has taken its name; give this one another name");
                case CLOSED -> failed("the engine is closed");
            };
        } finally {
            lock.unlock();
        }
    }

    private <T> Outcome<T> failed(String why) {
        return Outcome.failed(TransferCode.ERR_METADATA, "segment " + name + ": " + why);
    }

    /** The endpoint first: the store refuses it when the name belongs to somebody else by now. */
    @GuardedBy("lock")
    private Outcome<Done> write() {
        String text = descriptor.get();
        Outcome<Done> outcome =
                store.put(endpointKey, endpointText).then(_ -> store.put(segmentKey, text));
        descriptorText = outcome.isOk() ? text : "";
        return outcome;
    }

    private void run() {
        try {
            while (!stop.await(options.heartbeat().toNanos(), TimeUnit.NANOSECONDS)) {
                beat();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void beat() {
        lock.lock();
        try {
            if (state != State.PUBLISHED) {
                return;
            }
            Outcome<Done> outcome =
                    switch (store.find(endpointKey, options.requestTimeout())) {
                        case Outcome.Ok<Optional<String>>(Optional<String> present) ->
                                tend(present);
                        case Outcome.Failed<Optional<String>> failed -> failed.as();
                    };
            switch (outcome) {
                case Outcome.Ok<Done> ok -> failing = false;
                case Outcome.Failed<Done>(var code, String detail) -> {
                    metrics.failed.increment();
                    // Once per outage: the counter tells how long it lasts.
                    log(
                            failing ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
                            "metadata-not-refreshed",
                            code.label() + " " + detail);
                    failing = true;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Outcome<Done> tend(Optional<String> present) {
        if (present.isEmpty()) {
            log(System.Logger.Level.WARNING, "metadata-lost", "it is written again");
            return counted(write(), metrics.rewritten);
        }
        if (present.get().equals(endpointText)) {
            return descriptorText.isEmpty()
                    ? counted(write(), metrics.rewritten)
                    : counted(keep(), metrics.kept);
        }
        if (isSuccessor(present.get())) {
            state = State.SUPERSEDED;
            stop.countDown();
            metrics.superseded.increment();
            log(System.Logger.Level.WARNING, "metadata-name-taken", "by " + shown(present.get()));
            return Outcome.done();
        }
        log(System.Logger.Level.WARNING, "metadata-overwritten", "it held " + shown(present.get()));
        return counted(write(), metrics.overwritten);
    }

    private static Outcome<Done> counted(Outcome<Done> outcome, Counter counter) {
        if (outcome.isOk()) {
            counter.increment();
        }
        return outcome;
    }

    @GuardedBy("lock")
    private Outcome<Done> keep() {
        String text = descriptorText;
        return store.keep(endpointKey, endpointText).then(_ -> store.keep(segmentKey, text));
    }

    /** Whether an endpoint is that of a later engine; of two equally late one must win. */
    private boolean isSuccessor(String text) {
        OptionalLong ours = endpoint.incarnation();
        OptionalLong theirs =
                switch (DescriptorCodec.decodeRpcMeta(text, endpointKey)) {
                    case Outcome.Ok<RpcMeta>(RpcMeta meta) -> meta.incarnation();
                    case Outcome.Failed<RpcMeta> failed -> OptionalLong.empty();
                };
        if (ours.isEmpty() || theirs.isEmpty()) {
            return false;
        }
        int order = Long.compareUnsigned(theirs.getAsLong(), ours.getAsLong());
        return order > 0 || (order == 0 && text.compareTo(endpointText) > 0);
    }

    /** Where this publication is in its life. */
    public State state() {
        lock.lock();
        try {
            return state;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Removes the entries, unless the name belongs to somebody else: the endpoint first, as
     * upstream does it (spec 20.5). The store stays open. Idempotent.
     */
    @Override
    public void close() {
        stop.countDown();
        lock.lock();
        try {
            boolean published = state == State.PUBLISHED;
            state = State.CLOSED;
            if (published && isOwner()) {
                withdraw(endpointKey);
                withdraw(segmentKey);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isOwner() {
        return store.find(endpointKey, options.requestTimeout())
                .equals(Outcome.ok(Optional.of(endpointText)));
    }

    private void withdraw(String key) {
        if (store.remove(key) instanceof Outcome.Failed<Done>(var code, String detail)) {
            log(System.Logger.Level.WARNING, "metadata-not-withdrawn", code.label() + " " + detail);
        }
    }

    /** A text of somebody else, fit for one line of a log. */
    private static String shown(String text) {
        return text.substring(0, Math.min(text.length(), MAX_SHOWN_CHARS))
                .replace('"', '\'')
                .replaceAll("\\p{Cntrl}", "?");
    }

    private void log(System.Logger.Level level, String event, String detail) {
        LOG.log(level, event + " segment={0} detail=\"{1}\"", name, detail);
    }
}
