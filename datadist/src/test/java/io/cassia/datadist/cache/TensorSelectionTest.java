package io.cassia.datadist.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Expect;
import io.cassia.status.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TensorSelectionTest {
    @ParameterizedTest
    @CsvSource({
        // num_tensors = 10, a push, whole ranges: the vectors of the spec (6.2)
        "10, 1, -1, -1, true, 0, 10",
        "10, 2, -1, -1, true, 0, 10",
        "10, 2, 0, 0, true, 0, 2",
        "10, 2, 4, 4, true, 8, 2",
        "10, 2, 1, 3, true, 2, 6",
        "10, 1, 9, 9, true, 9, 1",
        "10, 10, 0, 0, true, 0, 10",
        "80, 2, 0, 39, false, 0, 80",
        // a pull of everything need not consist of whole layers
        "10, 3, -1, -1, false, 0, 10",
        "10, 255, -1, -1, false, 0, 10",
    })
    void ranges_select_consecutive_tensors(
            int tensors, int perLayer, int first, int last, boolean layered, int from, int count) {
        assertThat(TensorSelection.of(tensors, perLayer, new LayerRange(first, last), layered))
                .isEqualTo(Outcome.ok(new TensorSelection(from, count)));
    }

    @ParameterizedTest
    @CsvSource({
        "10, 3, -1, -1, true",
        "10, 7, -1, -1, true",
        "10, 17, -1, -1, true",
        "10, 3, 0, 0, false",
        "10, 2, 4, 5, true",
        "10, 2, -2, 0, true",
        "10, 2, 0, -2, true",
        "10, 2, 3, 1, true",
        "10, 2, -1, 3, true",
        "10, 2, 0, -1, true",
        "10, 0, -1, -1, false",
        "10, 256, -1, -1, false",
        "80, 2, 39, 40, false",
    })
    void ranges_that_do_not_fit_are_refused(
            int tensors, int perLayer, int first, int last, boolean layered) {
        Expect.invalid(TensorSelection.of(tensors, perLayer, new LayerRange(first, last), layered));
    }

    @Test
    void half_open_ranges_count_as_python_does() {
        assertThat(LayerRange.halfOpen(2, 5)).isEqualTo(new LayerRange(2, 4));
        assertThat(LayerRange.halfOpen(2, 5).count()).isEqualTo(3);
    }
}
