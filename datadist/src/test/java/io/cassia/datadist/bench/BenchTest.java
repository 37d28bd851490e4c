package io.cassia.datadist.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.datadist.Expect;
import io.cassia.datadist.cache.DataType;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The demonstration and the benchmark run and prove what they move; speed is not asserted. */
final class BenchTest {
    private static final KvGeometry SMALL = new KvGeometry("small", 4, 2, 16, DataType.BF16, 8);

    private static ServingPeer peer(ServingPeer.Setup setup) {
        return ServingPeer.open(setup, Clock.system(), new SimpleMeterRegistry()).orThrow();
    }

    private static Outcome<List<DemoRow>> demo(DataDistDemo.Plan plan, Counterpart peer) {
        return DataDistDemo.run(plan, peer, Clock.system(), new SimpleMeterRegistry());
    }

    @Test
    void the_geometry_of_llama_3_8b_is_128_kib_per_token() {
        assertThat(KvGeometry.LLAMA_3_8B.tokenBytes()).isEqualTo(128 << 10);
        assertThat(KvGeometry.LLAMA_3_8B.blocks(4).geometry().orThrow().strideBytes())
                .isEqualTo(32 << 10);
        assertThat(KvGeometry.LLAMA_3_8B.batches(1, 100).numTensors()).isEqualTo(64);
    }

    @Test
    void the_demonstration_moves_a_request_in_three_ways_and_checks_every_byte() {
        DataDistDemo.Plan plan = new DataDistDemo.Plan(SMALL, 50, 2, Set.of(Transport.TCP));
        try (ServingPeer peer = peer(plan.setup())) {
            List<DemoRow> rows = demo(plan, peer).orThrow();
            assertThat(rows)
                    .extracting(DemoRow::step)
                    .containsExactly(
                            "pull by key", "pull of scattered blocks", "push layer by layer");
            assertThat(rows).allMatch(DemoRow::verified);
            assertThat(rows).allMatch(row -> row.tokens() == 56);
            assertThat(rows).allMatch(row -> row.bytes() == 56 * SMALL.tokenBytes());
        }
    }

    /** A counterpart whose caches are not what they should be. */
    private record Forger(ServingPeer honest) implements Counterpart {
        @Override
        public Outcome<String> ask(String line) {
            return honest.ask(
                    line.startsWith("allocate ") ? line.replaceFirst(" 7( |$)", " 8$1") : line);
        }

        @Override
        public void close() {
            honest.close();
        }
    }

    @Test
    void a_wrong_byte_is_found() {
        DataDistDemo.Plan plan = new DataDistDemo.Plan(SMALL, 8, 1, Set.of(Transport.TCP));
        try (Forger peer = new Forger(peer(plan.setup()))) {
            assertThat(demo(plan, peer).orThrow()).noneMatch(DemoRow::verified);
        }
    }

    @Test
    void what_goes_wrong_at_the_counterpart_is_told_with_its_code() {
        DataDistDemo.Plan plan = new DataDistDemo.Plan(SMALL, 80, 1, Set.of(Transport.TCP));
        ServingPeer.Setup setup = plan.setup();
        try (ServingPeer peer =
                peer(new ServingPeer.Setup(8192, 0, setup.roleGating(), setup.transports()))) {
            Expect.failed(demo(plan, peer), LlmStatus.LLM_DEVICE_OUT_OF_MEMORY, "pull by key");
            Expect.invalid(peer.ask("sing"), "sing");
            Expect.missing(peer.ask("free 99"), "99");
        }
    }

    @Test
    void lines_carry_outcomes() {
        Outcome<String> failed = Outcome.failed(LlmStatus.LLM_TIMEOUT, "too\nlate");
        Expect.failed(
                Counterpart.parse(Counterpart.line(failed)), LlmStatus.LLM_TIMEOUT, "too late");
        assertThat(Counterpart.parse(Counterpart.line(Outcome.ok("1 2"))).orThrow())
                .isEqualTo("1 2");
        assertThat(Counterpart.parse(Counterpart.line(Outcome.ok(""))).orThrow()).isEmpty();
        Expect.failed(Counterpart.parse("Killed"), LlmStatus.LLM_FAILED, "Killed");
    }

    @Test
    void the_benchmark_measures_every_cell() {
        DataDistBench.Plan plan =
                new DataDistBench.Plan(
                        1 << 20, List.of(16L << 10, 64L << 10), 0, 3, 2, Set.of(Transport.TCP));
        List<BenchRow> rows = new ArrayList<>();
        try (ServingPeer peer = peer(plan.setup())) {
            Expect.ok(
                    DataDistBench.run(
                            plan, peer, Clock.system(), new SimpleMeterRegistry(), rows::add));
        }
        assertThat(rows).hasSize(8);
        assertThat(rows).allMatch(row -> row.nanos() > 0 && row.engineNanos() > 0);
        assertThat(rows).allMatch(BenchRow::verified);
        assertThat(rows).allMatch(row -> row.transports().equals("tcp"));
        assertThat(rows).filteredOn(row -> !row.scattered()).allMatch(row -> row.requests() == 1);
        assertThat(rows)
                .filteredOn(BenchRow::scattered)
                .allMatch(row -> row.requests() > row.blocks() / 2);
    }

    @Test
    void many_clusters_are_linked_in_one_call_and_timed() {
        LinkBench.Links links =
                LinkBench.run(16, 1, Clock.system(), new SimpleMeterRegistry()).orThrow();
        assertThat(links.clusters()).isEqualTo(16);
        assertThat(links.firstNanos()).isPositive();
        assertThat(links.nanos()).isPositive();
    }
}
