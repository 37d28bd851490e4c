package io.cassia.datadist.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.DataType;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The demonstration and the benchmark run and prove what they move; speed is not asserted. */
final class BenchTest {
    @Test
    void the_geometry_of_llama_3_8b_is_128_kib_per_token() {
        assertThat(KvGeometry.LLAMA_3_8B.tokenBytes()).isEqualTo(128 << 10);
        assertThat(KvGeometry.LLAMA_3_8B.blocks(4).geometry().orThrow().strideBytes())
                .isEqualTo(32 << 10);
        assertThat(KvGeometry.LLAMA_3_8B.batches(1, 100).numTensors()).isEqualTo(64);
    }

    @Test
    void the_demonstration_moves_a_request_in_three_ways_and_checks_every_byte() {
        KvGeometry small = new KvGeometry("small", 4, 2, 16, DataType.BF16, 8);
        List<DemoRow> rows =
                DataDistDemo.run(small, 50, true, Clock.system(), new SimpleMeterRegistry())
                        .orThrow();
        assertThat(rows)
                .extracting(DemoRow::step)
                .containsExactly("pull by key", "pull of scattered blocks", "push layer by layer");
        assertThat(rows).allMatch(DemoRow::verified);
        assertThat(rows).allMatch(row -> row.tokens() == 56);
        assertThat(rows).allMatch(row -> row.bytes() == 56 * small.tokenBytes());
    }

    @Test
    void the_benchmark_measures_every_cell() {
        DataDistBench.Plan plan =
                new DataDistBench.Plan(1 << 20, List.of(16L << 10, 64L << 10), 0, 2, true);
        List<BenchRow> rows =
                DataDistBench.run(plan, Clock.system(), new SimpleMeterRegistry()).orThrow();
        assertThat(rows).hasSize(8);
        assertThat(rows).allMatch(row -> row.nanos() > 0 && row.engineNanos() > 0);
        assertThat(rows).filteredOn(row -> !row.scattered()).allMatch(row -> row.requests() == 1);
        assertThat(rows)
                .filteredOn(BenchRow::scattered)
                .allMatch(row -> row.requests() > row.blocks() / 2);
    }
}
