package io.cassia.app.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunningTest {
    private final List<String> stopped = new ArrayList<>();

    private Running.Builder parts() {
        return new Running.Builder()
                .onClose(() -> stopped.add("first"))
                .onClose(
                        () -> {
                            throw new IllegalStateException("does not stop");
                        })
                .onClose(() -> stopped.add("last"));
    }

    @Test
    void a_part_that_does_not_stop_keeps_no_other_part_running() {
        Running running = parts().build();
        assertThatThrownBy(running::close).hasMessage("does not stop");
        assertThat(stopped).containsExactly("last", "first");
        running.close();
        assertThat(stopped).hasSize(2);
    }

    @Test
    void what_was_started_before_a_failure_is_stopped_in_the_same_way() {
        assertThatThrownBy(parts()::abandon).hasMessage("does not stop");
        assertThat(stopped).containsExactly("last", "first");
    }
}
