package io.cassia.app.bench.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.app.bench.store.StorePlan.Shape;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class StorePlanTest {
    private static final long MIB = 1 << 20;

    @Test
    void batches_are_cut_down_to_what_fits() {
        assertThat(StorePlan.shapes(List.of(MIB, 16 * MIB, 128 * MIB), List.of(1, 16), 64 * MIB))
                .containsExactly(
                        new Shape(MIB, 1),
                        new Shape(MIB, 16),
                        new Shape(16 * MIB, 1),
                        new Shape(16 * MIB, 4),
                        new Shape(128 * MIB, 1));
    }

    @Test
    void memory_is_bounded_and_holds_a_round() {
        List<Shape> shapes = StorePlan.shapes(List.of(4096L, 16 * MIB), List.of(1, 16), 64 * MIB);
        StorePlan plan =
                new StorePlan(
                        List.of(Where.OWN), shapes, 2, Duration.ofMillis(1), 3, Duration.ZERO);
        assertThat(plan.batchBytes()).isEqualTo(64 * MIB);
        assertThat(plan.roundBytes()).isEqualTo(128 * MIB);
        assertThat(plan.segmentBytes()).isGreaterThan(plan.roundBytes());
        assertThat(plan.cells()).hasSize(shapes.size() * 2);
        for (Shape shape : shapes) {
            assertThat(plan.callsPerRound(shape)).isPositive();
        }
    }

    @Test
    void every_figure_of_the_peer_is_beside_a_cell_of_the_default_plan() {
        List<Shape> shapes =
                StorePlan.shapes(
                        List.of(4096L, 128L << 10, MIB, 16 * MIB), List.of(1, 16), 64 * MIB);
        StorePlan plan =
                new StorePlan(
                        List.of(Where.values()), shapes, 1, Duration.ofMillis(1), 3, Duration.ZERO);
        assertThat(plan.cells().stream().filter(cell -> PeerFigures.of(cell).isPresent()))
                .hasSize(24);
    }
}
