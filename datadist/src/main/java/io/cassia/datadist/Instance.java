package io.cassia.datadist;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.CacheTable;
import io.cassia.datadist.cache.LocalCopy;
import io.cassia.datadist.cache.Placement;
import io.cassia.datadist.exchange.Exchange;
import io.cassia.datadist.exchange.LayerPush;
import io.cassia.datadist.exchange.Transfers;
import io.cassia.datadist.link.Announcer;
import io.cassia.datadist.link.IpInfo;
import io.cassia.datadist.link.LinkConfig;
import io.cassia.datadist.link.LinkMeters;
import io.cassia.datadist.link.LinkService;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.DataPlane;
import io.cassia.datadist.memory.Pools;
import io.cassia.datadist.memory.Registrations;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.Security;
import io.cassia.transfer.TransferConfig;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * One life of {@link LlmDataDist}, from initialize to close: its parts, put together. Guarded by
 * its parts.
 */
final class Instance implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Instance.class.getName());

    private static final Duration MAX_CALL_WAIT = Duration.ofSeconds(5);

    /** Leases are over when memory is taken back: whoever is still in it then is stopped. */
    private static final Duration DRAIN = Duration.ofMillis(200);

    private final ReentrantReadWriteLock calls = new ReentrantReadWriteLock();
    private final Clock clock;
    private final DataDistOptions options;
    private final DataPlane plane;
    private final CacheTable caches;
    private final Registrations registrations;
    private final Pools pools;
    private final LocalCopy copies;
    private final Exchange exchange;
    private final LinkService links;
    private final Transfers transfers;
    private final LayerPush layers;
    private final InstanceGauges gauges;
    private final Announcer announcer;
    private final Counter expiredKeys;
    private final Async async = new Async();
    private final Ticker ticker;

    private Instance(
            long clusterId,
            LlmRole role,
            DataDistOptions options,
            DataPlane plane,
            Clock clock,
            MeterRegistry registry) {
        this.clock = clock;
        this.options = options;
        this.plane = plane;
        LinkMeters meters = new LinkMeters(registry, clusterId);
        this.announcer = new Announcer(meters.dropped("listeners-too-slow"));
        this.expiredKeys = meters.dropped("key-expired");
        this.caches = new CacheTable(clock);
        this.registrations = new Registrations(plane);
        this.pools = new Pools(plane, options.devicePool().config(), options.hostPool().config());
        this.copies = new LocalCopy(caches, clock);
        this.exchange = new Exchange(clusterId, caches, plane, clock, meters, announcer);
        this.links =
                new LinkService(
                        clusterId,
                        role,
                        plane.localName(),
                        linkConfig(options),
                        clock,
                        meters,
                        announcer,
                        exchange);
        this.transfers = exchange.transfers(links.table(), links::breakDown);
        this.layers = new LayerPush(caches, transfers);
        this.gauges = new InstanceGauges(registry, clusterId, this);
        this.ticker = new Ticker("datadist-ticker-" + Long.toUnsignedString(clusterId), this::tick);
    }

    private static LinkConfig linkConfig(DataDistOptions options) {
        return new LinkConfig(
                options.roleGating(),
                options.remoteAccess(),
                !options.dataSecurity().equals(Security.PLAIN),
                options.linkChannels(),
                options.maxLinks(),
                options.linkRetryCount(),
                options.heartbeat(),
                options.heartbeatMisses(),
                options.relinkTries(),
                options.credentials());
    }

    /**
     * Starts everything, or nothing. {@code LLM_PARAM_INVALID} for a prompt without an address,
     * {@code LLM_OUT_OF_MEMORY} for a pool, {@code LLM_FAILED} for a port.
     */
    static Outcome<Instance> start(
            long clusterId,
            LlmRole role,
            DataDistOptions options,
            PlaneFactory planes,
            Clock clock,
            MeterRegistry registry) {
        if (options.roleGating() && role == LlmRole.PROMPT && options.listen().isEmpty()) {
            return Outcome.failed(
                    LlmStatus.LLM_PARAM_INVALID, "a prompt needs llm.ListenIpInfo to be linked");
        }
        return planes.start(transferConfig(options), clock, registry)
                .then(
                        plane -> {
                            Instance instance =
                                    new Instance(clusterId, role, options, plane, clock, registry);
                            Outcome<Done> open = instance.open(role);
                            if (!open.isOk()) {
                                instance.close();
                            }
                            return open.map(done -> instance);
                        });
    }

    private static TransferConfig transferConfig(DataDistOptions options) {
        Duration patience = options.syncTimeout();
        Duration least = Duration.ofMillis(200);
        Duration connect = patience.compareTo(least) > 0 ? patience : least;
        TransferConfig.Timeouts standard = TransferConfig.Timeouts.DEFAULT.withDrain(DRAIN);
        return TransferConfig.p2p(
                        options.dataHost().orElseGet(() -> HostAddress.choose(options.listen())))
                .withTransports(options.transports())
                .withSecurity(options.dataSecurity())
                .withTimeouts(
                        connect.compareTo(standard.connect()) < 0
                                ? standard.withConnect(connect)
                                : standard);
    }

    private Outcome<Done> open(LlmRole role) {
        ticker.start();
        Outcome<Done> pooled = openPools();
        if (!pooled.isOk()) {
            return pooled;
        }
        Optional<IpInfo> listen = listenFor(role, options.listen());
        return listen.isEmpty() ? Outcome.done() : links.listen(listen.get());
    }

    private Outcome<Done> openPools() {
        Outcome<Done> outcome = Outcome.done();
        if (options.devicePool().eager() && !options.devicePool().config().isOff()) {
            outcome = pools.require(Placement.DEVICE).map(pool -> Done.DONE);
        }
        if (outcome.isOk() && options.hostPool().eager() && !options.hostPool().config().isOff()) {
            outcome = pools.require(Placement.HOST).map(pool -> Done.DONE);
        }
        return outcome;
    }

    /** While roles gate, only a prompt listens; otherwise whoever was given an address. */
    Optional<IpInfo> listenFor(LlmRole role, Optional<IpInfo> address) {
        return options.roleGating() && role != LlmRole.PROMPT ? Optional.empty() : address;
    }

    private void tick() {
        links.tick();
        exchange.tick();
        options.keyTtl()
                .ifPresent(
                        ttl -> {
                            int expired = caches.expireKeys(ttl.toNanos());
                            if (expired > 0) {
                                expiredKeys.increment(expired);
                                LOG.log(Level.INFO, "keys-expired count=" + expired);
                            }
                        });
    }

    Clock clock() {
        return clock;
    }

    DataDistOptions options() {
        return options;
    }

    String segmentName() {
        return plane.localName();
    }

    CacheTable caches() {
        return caches;
    }

    Registrations registrations() {
        return registrations;
    }

    Pools pools() {
        return pools;
    }

    LocalCopy copies() {
        return copies;
    }

    Exchange exchange() {
        return exchange;
    }

    LinkService links() {
        return links;
    }

    Transfers transfers() {
        return transfers;
    }

    Async async() {
        return async;
    }

    LayerPush layers() {
        return layers;
    }

    /** Held for reading by each call, so that memory does not go from under one. */
    Lock call() {
        return calls.readLock();
    }

    /** Links end first, which ends what runs on them; memory goes last, when no call uses it. */
    @Override
    public void close() {
        links.close();
        if (!awaitCalls()) {
            LOG.log(Level.WARNING, "instance-close goes on although calls have not ended");
        }
        exchange.close();
        async.close();
        announcer.close();
        ticker.close();
        gauges.close();
        caches.clear();
        if (pools.close() instanceof Outcome.Failed<Done> failed) {
            LOG.log(Level.WARNING, "pool-close failed reason=" + failed.detail());
        }
        plane.close();
    }

    private boolean awaitCalls() {
        try {
            return calls.writeLock().tryLock(MAX_CALL_WAIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
