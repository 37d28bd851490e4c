package io.cassia.app;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogSetupTest {
    private static final String[] PROPERTIES = {
        "cassia.log.level", "java.util.logging.config.class", "java.util.logging.manager"
    };

    @AfterEach
    void forget() {
        for (String property : PROPERTIES) {
            System.clearProperty(property);
        }
    }

    @Test
    void servers_tell_more_than_commands_unless_a_level_is_asked_for() {
        assertThat(LogSetup.choose("", "node")).isEmpty();
        assertThat(System.getProperty("cassia.log.level")).isEqualTo("INFO");
        assertThat(LogSetup.choose("", "put")).isEmpty();
        assertThat(System.getProperty("cassia.log.level")).isEqualTo("WARNING");
        assertThat(LogSetup.choose("debug", "put")).isEmpty();
        assertThat(System.getProperty("cassia.log.level")).isEqualTo("FINE");
    }

    @ParameterizedTest
    @ValueSource(strings = {"loud", "INFO", "warning", " "})
    void a_level_that_there_is_not_is_told(String level) {
        assertThat(LogSetup.choose(level, "put"))
                .hasValueSatisfying(
                        wrong ->
                                assertThat(wrong)
                                        .contains("CASSIA_LOG_LEVEL=\"" + level + "\"", "debug"));
    }
}
