package io.cassia.datadist.bench;

import io.cassia.base.Clock;
import io.cassia.datadist.DataDistOptions;
import io.cassia.datadist.LlmDataDist;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LlmRole;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How long a decoder takes to link with many prompts in one call. Confined to the calling thread.
 */
public final class LinkBench {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final long DECODER = 1000;

    private LinkBench() {}

    /**
     * What was measured. Immutable.
     *
     * @param clusters prompts of one call
     * @param firstNanos the first call of the process
     * @param nanos the median of the later ones
     */
    public record Links(int clusters, long firstNanos, long nanos) {}

    /**
     * Links and unlinks some times; the codes of {@link LlmDataDist#linkClusters}.
     *
     * @param clusters 1 to 16, in this process
     * @param rounds calls after the first
     */
    public static Outcome<Links> run(int clusters, int rounds, Clock clock, MeterRegistry meters) {
        List<LlmDataDist> all = new ArrayList<>();
        try {
            LlmDataDist decoder = new LlmDataDist(DECODER, LlmRole.DECODER, clock, meters);
            all.add(decoder);
            Outcome<Done> ready = decoder.initialize(options().build());
            List<ClusterInfo> targets = new ArrayList<>();
            for (int i = 1; i <= clusters && ready.isOk(); i++) {
                LlmDataDist prompt = new LlmDataDist(i, LlmRole.PROMPT, clock, meters);
                all.add(prompt);
                ready = prompt.initialize(options().listen("127.0.0.1", 0).build());
                if (ready.isOk()) {
                    int port = prompt.listenAddress().orElseThrow().port();
                    targets.add(ClusterInfo.of(i, "127.0.0.1", port));
                }
            }
            return ready.then(ok -> measure(decoder, targets, rounds, clock));
        } finally {
            all.forEach(LlmDataDist::close);
        }
    }

    private static DataDistOptions.Builder options() {
        return DataDistOptions.builder().dataHost("127.0.0.1");
    }

    private static Outcome<Links> measure(
            LlmDataDist decoder, List<ClusterInfo> targets, int rounds, Clock clock) {
        long[] nanos = new long[rounds];
        long first = 0;
        for (int round = -1; round < rounds; round++) {
            long start = clock.nanos();
            Outcome<Done> linked = decoder.linkClusters(targets, LIMIT).overall();
            long end = clock.nanos();
            Outcome<Done> unlinked =
                    linked.then(ok -> decoder.unlinkClusters(targets, LIMIT, false).overall());
            if (unlinked instanceof Outcome.Failed<Done> failed) {
                return failed.as();
            }
            if (round < 0) {
                first = end - start;
            } else {
                nanos[round] = end - start;
            }
        }
        Arrays.sort(nanos);
        return Outcome.ok(new Links(targets.size(), first, nanos[rounds / 2]));
    }
}
