package io.cassia.base.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigurationTest {
    private static final Setting<Integer> PORT =
            setting("rpc-port", List.of("port"), new ValueType.Port(true), "50051");
    private static final Setting<Duration> TTL =
            setting(
                    "client-ttl",
                    List.of("client-live-ttl-sec"),
                    new ValueType.Span(
                            ChronoUnit.SECONDS, Duration.ofMillis(1), Duration.ofDays(1)),
                    "10s");
    private static final Setting<Long> SIZE =
            setting("heap", List.of(), new ValueType.Size(0, Long.MAX_VALUE), "");
    private static final Setting<Boolean> HA =
            new Setting<>(
                    "enable-ha",
                    List.of(),
                    "X_ENABLE_HA",
                    new ValueType.Flag(),
                    "false",
                    new Setting.Support.Absent("there is one master"),
                    "");
    private static final Setting<Double> RATIO =
            new Setting<>(
                    "nof-ratio",
                    List.of(),
                    "X_NOF_RATIO",
                    new ValueType.Ratio(0, 1),
                    "0.5",
                    new Setting.Support.Inert("there is no NVMe-oF"),
                    "");
    private static final Setting<String> TOKEN =
            setting(
                    "token",
                    List.of(),
                    new ValueType.Text(Pattern.compile("[a-z]+"), "lower-case letters", true),
                    "");
    private static final SettingTable TABLE =
            new SettingTable(
                    "X_", StoreCode.INVALID_PARAMS, List.of(PORT, TTL, SIZE, HA, RATIO, TOKEN));

    private static <T> Setting<T> setting(
            String name, List<String> aliases, ValueType<T> type, String initial) {
        String variable = "X_" + name.toUpperCase(java.util.Locale.ROOT).replace('-', '_');
        return new Setting<>(
                name, aliases, variable, type, initial, Setting.Support.FULL, "A thing.");
    }

    private static Outcome<Configuration> read(
            Map<String, String> file, Map<String, String> env, Map<String, String> flags) {
        return Configuration.read(TABLE, file, env, flags);
    }

    private static Configuration ofFile(Map<String, String> file) {
        return read(file, Map.of(), Map.of()).orThrow();
    }

    private static String refusal(Outcome<?> outcome, StoreCode code) {
        assertThat(outcome).isInstanceOf(Outcome.Failed.class);
        Outcome.Failed<?> failed = (Outcome.Failed<?>) outcome;
        assertThat(failed.code()).isEqualTo(code);
        return failed.detail();
    }

    @Test
    void flags_win_over_the_environment_and_that_over_the_file() {
        Map<String, String> file = Map.of("port", "1", "client_live_ttl_sec", "2");
        Map<String, String> env = Map.of("X_RPC_PORT", "3");
        assertThat(ofFile(Map.of()).require(PORT)).isEqualTo(50051);
        assertThat(ofFile(file).require(PORT)).isEqualTo(1);
        assertThat(read(file, env, Map.of()).orThrow().require(PORT)).isEqualTo(3);
        Configuration all = read(file, env, Map.of("rpc-port", "off")).orThrow();
        assertThat(all.require(PORT)).isEqualTo(ValueType.Port.OFF);
        assertThat(all.source(PORT)).isEqualTo(Configuration.Source.FLAG);
        assertThat(all.require(TTL)).hasSeconds(2);
        assertThat(all.source(TTL)).isEqualTo(Configuration.Source.FILE);
        assertThat(all.source(RATIO)).isEqualTo(Configuration.Source.DEFAULT);
        assertThat(all.find(SIZE)).isEmpty();
    }

    @Test
    void units_are_peoples_and_plain_numbers_count_as_the_setting_says() {
        assertThat(ofFile(Map.of("client-ttl", "1500ms")).require(TTL)).hasMillis(1500);
        assertThat(ofFile(Map.of("heap", "10GiB")).require(SIZE)).isEqualTo(10L << 30);
    }

    @ParameterizedTest
    @CsvSource({
        "rpc_prt, rpc-port",
        "clientttl, client-ttl",
        "Rpc-Port, rpc-port",
    })
    void an_unknown_name_names_the_nearest(String name, String nearest) {
        assertThat(refusal(read(Map.of(name, "1"), Map.of(), Map.of()), StoreCode.INVALID_PARAMS))
                .contains('"' + name + '"')
                .contains('"' + nearest + '"');
        assertThat(refusal(read(Map.of(), Map.of(), Map.of(name, "1")), StoreCode.INVALID_PARAMS))
                .contains('"' + nearest + '"');
    }

    @Test
    void a_mistyped_variable_stops_the_start_and_foreign_ones_do_not() {
        assertThat(
                        refusal(
                                read(Map.of(), Map.of("X_RPC_PROT", "1"), Map.of()),
                                StoreCode.INVALID_PARAMS))
                .contains("X_RPC_PROT")
                .contains("X_RPC_PORT");
        Map<String, String> foreign =
                Map.of("X_SERVICE_HOST", "10.0.0.1", "X_PORT_50051_TCP", "tcp://1", "PATH", "/");
        assertThat(read(Map.of(), foreign, Map.of()).isOk()).isTrue();
    }

    @Test
    void one_setting_under_two_names_is_refused() {
        assertThat(
                        refusal(
                                read(Map.of("port", "1", "rpc_port", "2"), Map.of(), Map.of()),
                                StoreCode.INVALID_PARAMS))
                .contains("are one setting");
    }

    @Test
    void a_wrong_value_is_named_with_its_range_and_a_secret_is_not_shown() {
        assertThat(
                        refusal(
                                read(Map.of(), Map.of("X_CLIENT_TTL", "soon"), Map.of()),
                                StoreCode.INVALID_PARAMS))
                .isEqualTo(
                        "X_CLIENT_TTL=\"soon\": it is a duration from 1ms to 1d; a plain number"
                                + " counts seconds");
        assertThat(
                        refusal(
                                read(Map.of("token", "S3CRET"), Map.of(), Map.of()),
                                StoreCode.INVALID_PARAMS))
                .doesNotContain("S3CRET");
        Configuration secret = ofFile(Map.of("token", "secret"));
        assertThat(secret.entries().getLast().shown()).isEqualTo("***");
    }

    @Test
    void what_is_not_there_cannot_be_asked_for_and_what_does_nothing_is_told() {
        assertThat(
                        refusal(
                                read(Map.of("enable_ha", "true"), Map.of(), Map.of()),
                                StoreCode.UNAVAILABLE_IN_CURRENT_MODE))
                .contains("there is one master");
        assertThat(ofFile(Map.of("enable_ha", "off")).require(HA)).isFalse();
        assertThat(ofFile(Map.of("nof_ratio", "0.1")).withoutEffect())
                .containsExactly("nof-ratio has no effect: there is no NVMe-oF");
    }

    @Test
    void files_are_yaml_or_json(@TempDir Path folder) throws Exception {
        Path yaml =
                Files.writeString(
                        folder.resolve("m.yaml"),
                        "# comment\nrpc_port: 16\nclient-ttl: 5s\nenable_ha: false\nheap:\n");
        assertThat(ConfigurationFile.read(yaml).orThrow())
                .containsOnly(
                        Map.entry("rpc_port", "16"),
                        Map.entry("client-ttl", "5s"),
                        Map.entry("enable_ha", "false"));
        Path json =
                Files.writeString(
                        folder.resolve("m.json"), "{\"rpc_port\": 7, \"nof-ratio\": 0.25}");
        Configuration read = ofFile(ConfigurationFile.read(json).orThrow());
        assertThat(read.require(PORT)).isEqualTo(7);
        assertThat(read.require(RATIO)).isEqualTo(0.25);
        Path empty = Files.writeString(folder.resolve("e.yaml"), "# nothing\n");
        assertThat(ConfigurationFile.read(empty).orThrow()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "a.json, '{\"a\": 1, \"a\": 2}', uplicate",
        "a.json, '{\"a\": ', line 1",
        "a.yaml, '[1, 2]', one object",
        "a.yaml, 'a: {b: 1}', settings are flat",
        "a.yaml, 'a: [1', line",
    })
    void a_malformed_file_says_where(String name, String text, String said, @TempDir Path folder)
            throws Exception {
        Path file = Files.writeString(folder.resolve(name), text);
        assertThat(refusal(ConfigurationFile.read(file), StoreCode.INVALID_PARAMS))
                .contains(file.toString())
                .contains(said);
    }

    @Test
    void a_missing_or_huge_file_is_refused(@TempDir Path folder) throws Exception {
        assertThat(
                        refusal(
                                ConfigurationFile.read(folder.resolve("none.yaml")),
                                StoreCode.FILE_NOT_FOUND))
                .contains("none.yaml");
        Path huge = Files.write(folder.resolve("huge.yaml"), new byte[(1 << 20) + 1]);
        assertThat(refusal(ConfigurationFile.read(huge), StoreCode.INVALID_PARAMS))
                .contains("at most");
    }
}
