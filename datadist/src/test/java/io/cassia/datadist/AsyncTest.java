package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AsyncTest {
    @Test
    void a_call_that_meets_the_close_has_an_end_too() {
        Async async = new Async();
        async.close();
        assertThat(async.start(() -> "done")).isCompletedWithValue("done");
    }
}
