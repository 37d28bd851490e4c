package io.cassia.master.events;

import io.cassia.base.Clock;
import io.cassia.base.Closing;
import io.cassia.master.core.ObjectEvent;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Publishes events of objects over ZeroMQ (spec mooncake-store 12.5). Guarded: its own thread
 * sends.
 *
 * <pre>
 *   message = "" | sequence, 8 bytes big-endian, from 1 | MessagePack of {@link EventCodec}
 * </pre>
 *
 * <p>Nobody waits for subscribers: one that does not read misses messages, which it sees by the gap
 * in the sequence, and only that one; they are counted in {@code
 * cassia_kv_events_slow_subscriber_messages_total}.
 */
public final class KvEventPublisher implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(KvEventPublisher.class.getName());

    private static final Duration PERIOD = Duration.ofMillis(10);
    private static final int BATCH = 1024;

    /** Messages that wait for one subscriber. */
    private static final int HIGH_WATER_MARK = 1000;

    private final IntFunction<List<ObjectEvent>> source;
    private final Clock clock;
    private final EventCodec codec;
    private final String wanted;
    private final CompletableFuture<Outcome<String>> bound = new CompletableFuture<>();
    private final LongAdder batches = new LongAdder();
    private final LongAdder events = new LongAdder();
    private final LongAdder skipped = new LongAdder();
    private final LongAdder missed = new LongAdder();
    private final Closing closing = new Closing();
    private final Thread thread;
    private long sequence;
    private long lastId;

    private KvEventPublisher(
            KvEventsConfig config,
            IntFunction<List<ObjectEvent>> source,
            Clock clock,
            MeterRegistry meters) {
        this.source = source;
        this.clock = clock;
        this.codec = new EventCodec(config);
        this.wanted = config.endpoint();
        this.thread =
                Thread.ofPlatform().daemon().name("cassia-master-events").unstarted(this::run);
        counter(meters, "batches", "Messages of events published", batches);
        counter(meters, "published", "Events published", events);
        counter(meters, "skipped", "Events whose key is no number and may not be told", skipped);
        counter(
                meters,
                "slow.subscriber.messages",
                "Messages that at least one subscriber missed, because it does not read",
                missed);
    }

    private static void counter(
            MeterRegistry meters, String name, String description, LongAdder count) {
        FunctionCounter.builder("cassia.kv.events." + name, count, LongAdder::sum)
                .description(description)
                .register(meters);
    }

    /**
     * Binds and begins to publish. RPC_FAIL when it cannot bind.
     *
     * @param source hands out the oldest events, at most so many, which it then forgets
     */
    public static Outcome<KvEventPublisher> start(
            KvEventsConfig config,
            IntFunction<List<ObjectEvent>> source,
            Clock clock,
            MeterRegistry meters) {
        KvEventPublisher publisher = new KvEventPublisher(config, source, clock, meters);
        publisher.thread.start();
        return publisher.bound.join().map(_ -> publisher);
    }

    /** What it is bound to, with the real port. */
    public String endpoint() {
        return bound.join().orThrow();
    }

    public long publishedBatches() {
        return batches.sum();
    }

    public long publishedEvents() {
        return events.sum();
    }

    /** Events that were not published because the key is no number. */
    public long skippedKeys() {
        return skipped.sum();
    }

    /** A ZeroMQ socket belongs to one thread, from its making to its end. */
    private void run() {
        try (ZContext context = new ZContext(1)) {
            context.setLinger(0);
            ZMQ.Socket socket = context.createSocket(SocketType.XPUB);
            socket.setSndHWM(HIGH_WATER_MARK);
            socket.bind(wanted);
            boolean _ = bound.complete(Outcome.ok(socket.getLastEndpoint()));
            serve(socket);
        } catch (RuntimeException e) {
            Outcome<String> failed =
                    Outcome.failed(
                            StoreCode.RPC_FAIL,
                            "kv events cannot be published at %s: %s; choose another endpoint"
                                    .formatted(wanted, e.getMessage()));
            if (!bound.complete(failed)) {
                LOG.log(System.Logger.Level.ERROR, "kv events ended", e);
            }
        }
    }

    private void serve(ZMQ.Socket socket) {
        boolean last = false;
        while (!last) {
            last = closing.pause(PERIOD);
            try {
                List<ObjectEvent> taken = source.apply(BATCH);
                while (!taken.isEmpty()) {
                    publish(socket, taken);
                    taken = source.apply(BATCH);
                }
                forgetSubscriptions(socket);
            } catch (RuntimeException e) {
                // A bug, but events to come are worth more than none.
                LOG.log(System.Logger.Level.ERROR, "kv events not published", e);
            }
        }
    }

    private void publish(ZMQ.Socket socket, List<ObjectEvent> taken) {
        List<ObjectEvent> named = taken.stream().filter(codec::hasName).toList();
        skipped.add(taken.size() - named.size());
        if (named.isEmpty()) {
            return;
        }
        byte[] payload = codec.encode(named, lastId + 1, clock.epochMillis());
        byte[] number = ByteBuffer.allocate(Long.BYTES).putLong(++sequence).array();
        // First as if no subscriber might miss it, to learn whether one would.
        boolean _ = socket.setXpubNoDrop(true);
        if (!socket.send(new byte[0], ZMQ.SNDMORE | ZMQ.DONTWAIT)) {
            missed.increment();
            boolean _ = socket.setXpubNoDrop(false);
            boolean _ = socket.send(new byte[0], ZMQ.SNDMORE | ZMQ.DONTWAIT);
        }
        boolean _ = socket.setXpubNoDrop(false);
        boolean _ = socket.send(number, ZMQ.SNDMORE | ZMQ.DONTWAIT);
        boolean _ = socket.send(payload, ZMQ.DONTWAIT);
        lastId += named.size();
        events.add(named.size());
        batches.increment();
    }

    /** An XPUB socket hands subscriptions to its owner, who does not care. */
    private static void forgetSubscriptions(ZMQ.Socket socket) {
        while (socket.recv(ZMQ.DONTWAIT) != null) {
            // Who listens is nobody's business here.
        }
    }

    /** Publishes what waits and stops. */
    @Override
    public void close() {
        closing.begin();
        try {
            thread.join(Duration.ofSeconds(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
