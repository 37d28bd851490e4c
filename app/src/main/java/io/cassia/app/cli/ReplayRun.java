package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.HostMemory;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.app.cluster.ObjectStore;
import io.cassia.app.cluster.Running;
import io.cassia.app.replay.Pause;
import io.cassia.app.replay.ReplayEngine;
import io.cassia.app.replay.ReplayOptions;
import io.cassia.app.replay.ReplayReport;
import io.cassia.app.replay.Trace;
import io.cassia.base.Clock;
import io.cassia.base.HumanSize;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.StoreClientConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Runs traces against a cluster of its own or a given one. Confined to its command. */
final class ReplayRun {
    private static final String LOCAL = "127.0.0.1";
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Backend backend;
    private final Clock clock;
    private final Console console;

    ReplayRun(Backend backend, Clock clock, Console console) {
        this.backend = backend;
        this.clock = clock;
        this.console = console;
    }

    /**
     * A replay on a cluster of its own.
     *
     * @param memoryBytes of all nodes together
     */
    Outcome<ReplayReport> onOwnCluster(
            Trace trace,
            ReplayOptions options,
            String tenant,
            int clients,
            int nodes,
            long memoryBytes,
            MasterSettings master) {
        OptionalLong available = HostMemory.availableBytes();
        if (available.isPresent() && memoryBytes > available.getAsLong()) {
            return Outcome.failed(
                    StoreCode.NO_AVAILABLE_HANDLE,
                    """
                    %s of memory for %,d different blocks of %s: this machine can lend %s (free \
                    memory, /dev/shm); give a smaller --memory (blocks are then evicted), \
                    --block-bytes or --limit"""
                            .formatted(
                                    HumanSize.format(memoryBytes),
                                    trace.distinctBlocks(),
                                    HumanSize.format(options.blockBytes()),
                                    HumanSize.format(available.getAsLong())));
        }
        Outcome<Running> cluster =
                backend.startCluster(
                        master, LOCAL, segments(memoryBytes, nodes, options.blockBytes()));
        return cluster.then(
                running -> {
                    try (running) {
                        return on(
                                new StoreClientConfig(
                                        running.master(),
                                        running.metadata(),
                                        LOCAL,
                                        tenant,
                                        TIMEOUT),
                                trace,
                                options,
                                clients);
                    }
                });
    }

    /** A replay on a running cluster. */
    Outcome<ReplayReport> on(
            StoreClientConfig config, Trace trace, ReplayOptions options, int clients) {
        List<ObjectStore> stores = new ArrayList<>();
        try (ProgressLine progress = ProgressLine.of(console, "replay", trace.requests())) {
            for (int i = 0; i < clients; i++) {
                switch (backend.connect(config)) {
                    case Outcome.Ok<ObjectStore>(ObjectStore store) -> stores.add(store);
                    case Outcome.Failed<ObjectStore> failure -> {
                        return failure.in("client " + (i + 1) + " of " + clients);
                    }
                }
            }
            return Outcome.ok(
                    ReplayEngine.run(trace, options, stores, clock, Pause.real(), progress));
        } finally {
            stores.forEach(ObjectStore::close);
        }
    }

    /** Memory that holds every block of the trace, and a little more than that. */
    static long memoryForAll(Trace trace, int blockBytes) {
        long blocks = trace.distinctBlocks();
        return (blocks + Math.max(64, blocks / 32)) * blockBytes;
    }

    /** Splits memory between nodes in whole blocks: what no block fits into would be lost. */
    static List<Long> segments(long memoryBytes, int nodes, int blockBytes) {
        long blocks = memoryBytes / blockBytes;
        List<Long> segments = new ArrayList<>();
        for (int node = 0; node < nodes; node++) {
            long share = blocks / nodes + (node < blocks % nodes ? 1 : 0);
            segments.add(Math.max(1, share) * blockBytes);
        }
        return segments;
    }
}
