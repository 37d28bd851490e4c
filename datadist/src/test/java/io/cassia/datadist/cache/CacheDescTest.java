package io.cassia.datadist.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Expect;
import io.cassia.status.Outcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CacheDescTest {
    @Test
    void sizes_follow_from_shape_and_type() {
        Geometry geometry = CacheDesc.device(64, DataType.BF16, 8, 8, 128).geometry().orThrow();
        assertThat(geometry.tensorBytes()).isEqualTo(8 * 8 * 128 * 2);
        assertThat(geometry.batches()).isEqualTo(8);
        assertThat(geometry.strideBytes()).isEqualTo(8 * 128 * 2);
        assertThat(geometry.totalBytes()).isEqualTo(64L * 8 * 8 * 128 * 2);
    }

    @Test
    void thirty_one_dimensions_are_the_most() {
        assertThat(desc(new ArrayList<>(Collections.nCopies(31, 1L))).isOk()).isTrue();
        Expect.invalid(desc(new ArrayList<>(Collections.nCopies(32, 1L))), "32 dimensions");
        Expect.invalid(desc(List.of()), "0 dimensions");
    }

    @Test
    void dimensions_are_above_zero() {
        Expect.invalid(desc(List.of(4L, 0L)), "dimension 0");
        Expect.invalid(desc(List.of(-1L)), "dimension -1");
    }

    @Test
    void a_size_that_overflows_is_refused() {
        Expect.invalid(desc(List.of(1L << 62, 2L)), "2^63-1");
        Expect.invalid(desc(List.of(1L << 40, 1L << 40)), "2^63-1");
        Expect.invalid(
                new CacheDesc(16, DataType.INT64, List.of(1L << 57), Placement.DEVICE).geometry(),
                "16 tensors");
    }

    @Test
    void a_cache_has_at_least_one_tensor() {
        Expect.invalid(CacheDesc.device(0, DataType.INT8, 1).geometry(), "num_tensors 0");
        Expect.invalid(CacheDesc.device(65_537, DataType.INT8, 1).geometry(), "num_tensors 65537");
    }

    @Test
    void types_are_found_by_the_names_of_both_apis() {
        assertThat(DataType.parse("DT_FLOAT16").orThrow()).isEqualTo(DataType.FLOAT16);
        assertThat(DataType.parse("DT_FLOAT").orThrow()).isEqualTo(DataType.FLOAT32);
        assertThat(DataType.parse("bf16").orThrow().bytes()).isEqualTo(2);
        Expect.invalid(DataType.parse("float8"), "float8");
    }

    private static Outcome<Geometry> desc(List<Long> shape) {
        return new CacheDesc(1, DataType.INT8, shape, Placement.DEVICE).geometry();
    }
}
