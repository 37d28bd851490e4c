package io.cassia.datadist.bench;

import io.cassia.base.Clock;
import io.cassia.datadist.LlmDataDist;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LlmRole;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A decoder of this process, linked with a counterpart. Immutable.
 *
 * @param decoder this side
 * @param peer that side
 */
record Session(LlmDataDist decoder, Counterpart peer) implements AutoCloseable {
    static final long DECODER = 2;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /**
     * The codes of {@link LlmDataDist#initialize} and {@link LlmDataDist#linkClusters}; the
     * counterpart stays open in any case.
     */
    static Outcome<Session> open(
            ServingPeer.Setup setup, Counterpart peer, Clock clock, MeterRegistry meters) {
        LlmDataDist decoder = new LlmDataDist(DECODER, LlmRole.DECODER, clock, meters);
        Outcome<Done> ready =
                decoder.initialize(setup.options(Optional.empty()))
                        .then(ok -> peer.ask("where"))
                        .then(where -> link(decoder, where));
        if (!ready.isOk()) {
            decoder.close();
        }
        return ready.map(ok -> new Session(decoder, peer));
    }

    private static Outcome<Done> link(LlmDataDist decoder, String where) {
        int port = Integer.parseInt(where.split(" ", -1)[0]);
        return decoder.linkClusters(
                        List.of(ClusterInfo.of(Counterpart.CLUSTER, "127.0.0.1", port)), LIMIT)
                .overall();
    }

    /** Unlinks, so that the other side hears of it. */
    @Override
    public void close() {
        decoder.close();
    }
}
