package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class ExplainCommandTest {
    private final FakeBackend backend = new FakeBackend();

    private CliRun explain(String... args) {
        String[] line = new String[args.length + 1];
        line[0] = "explain";
        System.arraycopy(args, 0, line, 1, args.length);
        return CliRun.of(backend, line);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-707", "LEASE_EXPIRED", "lease-expired", "LEASE_EXPIRED(-707)"})
    void a_number_and_a_name_find_the_code(String query) {
        CliRun run = explain(query, "--lang", "en");
        assertThat(run.exit()).isZero();
        assertThat(run.out()).startsWith("LEASE_EXPIRED  -707").contains("What to do");
        assertThat(run.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0x5010B001", "1343270913", "5010b001", "LLM_WAIT_PROC_TIMEOUT"})
    void every_notation_of_a_datadist_status_is_understood(String query) {
        assertThat(explain(query).out()).contains("LLM_WAIT_PROC_TIMEOUT  0x5010B001");
    }

    @Test
    void a_number_that_families_share_shows_each_of_them() {
        JsonNode codes = explain("-1", "--json").json().get("codes");
        assertThat(codes.findValuesAsString("name"))
                .containsExactly("ERR_INVALID_ARGUMENT", "INTERNAL_ERROR", "LLM_FAILED");
    }

    @Test
    void a_negative_number_may_stand_before_or_behind_the_options() {
        assertThat(explain("--json", "-704").json().get("codes").get(0).get("number").asInt())
                .isEqualTo(-704);
        assertThat(explain("-704", "--json").json().get("codes").get(0).get("text").asString())
                .isEqualTo("-704");
    }

    @Test
    void chinese_is_spoken() {
        assertThat(explain("-707", "--lang", "zh").out()).contains("怎么办");
        assertThat(explain("-707", "--lang", "fr").exit()).isEqualTo(2);
    }

    @Test
    void alone_it_lists_every_code() {
        assertThat(explain("--json").json().get("codes")).hasSize(109);
        assertThat(explain().out()).contains("NO_AVAILABLE_HANDLE").contains("ERR_DNS");
    }

    @Test
    void what_is_no_code_is_not_found_and_the_nearest_is_named() {
        CliRun run = explain("LEASE_EXPRIED");
        assertThat(run.exit()).isEqualTo(3);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains("LEASE_EXPIRED");
        CliRun json = explain("LEASE_EXPRIED", "--json");
        assertThat(json.json().get("suggestions").get(0).asString()).isEqualTo("LEASE_EXPIRED");
    }
}
