package io.cassia.datadist.bench;

import io.cassia.base.Clock;
import io.cassia.datadist.DataDistOptions;
import io.cassia.datadist.LlmDataDist;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.PoolConfig;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A prompt (cluster 1) and a decoder (cluster 2) of this process, linked over loopback. Immutable.
 *
 * @param prompt owner of what is pulled
 * @param decoder puller
 */
record Pair(LlmDataDist prompt, LlmDataDist decoder) implements AutoCloseable {
    static final long PROMPT = 1;
    static final long DECODER = 2;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** The codes of {@link LlmDataDist#initialize} and {@link LlmDataDist#linkClusters}. */
    static Outcome<Pair> open(long poolBytes, boolean sockets, Clock clock, MeterRegistry meters) {
        Pair pair =
                new Pair(
                        new LlmDataDist(PROMPT, LlmRole.PROMPT, clock, meters),
                        new LlmDataDist(DECODER, LlmRole.DECODER, clock, meters));
        Outcome<Done> ready =
                PoolConfig.ofBytes(poolBytes)
                        .then(
                                pool ->
                                        pair.prompt
                                                .initialize(
                                                        options(pool, sockets)
                                                                .listen("127.0.0.1", 0)
                                                                .build())
                                                .then(
                                                        ok ->
                                                                pair.decoder.initialize(
                                                                        options(pool, sockets)
                                                                                .build())))
                        .then(ok -> pair.link());
        if (!ready.isOk()) {
            pair.close();
        }
        return ready.map(ok -> pair);
    }

    private static DataDistOptions.Builder options(PoolConfig pool, boolean sockets) {
        return DataDistOptions.builder()
                .devicePool(pool)
                .dataHost("127.0.0.1")
                .transports(sockets ? Set.of(Transport.TCP) : EnumSet.allOf(Transport.class))
                .syncTimeout(LIMIT);
    }

    private Outcome<Done> link() {
        int port = prompt.listenAddress().orElseThrow().port();
        return decoder.linkClusters(List.of(ClusterInfo.of(PROMPT, "127.0.0.1", port)), LIMIT)
                .overall();
    }

    @Override
    public void close() {
        decoder.close();
        prompt.close();
    }
}
