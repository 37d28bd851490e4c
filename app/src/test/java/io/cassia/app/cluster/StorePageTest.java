package io.cassia.app.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.config.Configuration;
import io.cassia.base.config.Setting;
import io.cassia.base.config.SettingTable;
import io.cassia.store.NodeConfig;
import io.cassia.store.StoreClientConfig;
import io.cassia.transfer.environment.EngineSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StorePageTest {
    private static final String HINT =
            "docs/configuration.md differs from the table of settings; write it anew with:"
                    + " mvn test -pl app -am -Dtest=StorePageTest"
                    + " -Dsurefire.failIfNoSpecifiedTests=false -Dcassia.regenerate=true";

    @Test
    void configuration_md_holds_what_the_generator_writes() throws IOException {
        Path file = Path.of(System.getProperty("cassia.root", ".."), "docs", "configuration.md");
        String page = Files.readString(file);
        int begin = page.indexOf(StorePage.BEGIN);
        int end = page.indexOf(StorePage.END);
        assertThat(begin).isNotNegative();
        assertThat(end).isGreaterThan(begin);
        int from = begin + StorePage.BEGIN.length();
        if (Boolean.getBoolean("cassia.regenerate")) {
            page = page.substring(0, from) + StorePage.markdown() + page.substring(end);
            Files.writeString(file, page);
            end = page.indexOf(StorePage.END);
        }
        assertThat(page.substring(from, end)).as(HINT).isEqualTo(StorePage.markdown());
    }

    @Test
    void nothing_set_is_what_the_configurations_have_by_themselves() {
        StoreClientConfig client =
                StoreSettings.client(
                                Configuration.read(StoreFlags.CLIENT, Map.of(), Map.of(), Map.of())
                                        .orThrow())
                        .orThrow();
        assertThat(client.memory()).isEqualTo(StoreClientConfig.Memory.DEFAULT);
        assertThat(client.calls()).isEqualTo(StoreClientConfig.Calls.DEFAULT);
        NodeConfig node =
                StoreSettings.node(
                                Configuration.read(StoreFlags.NODE, Map.of(), Map.of(), Map.of())
                                        .orThrow())
                        .orThrow();
        assertThat(node.longestSegmentBytes()).isEqualTo(NodeConfig.LONGEST_SEGMENT_BYTES);
        assertThat(node.drainTime()).isZero();
    }

    /** All parts of a process read one environment. */
    @Test
    void variable_of_one_table_is_no_typing_error_of_another() {
        Map<String, String> all = new HashMap<>();
        for (SettingTable table : List.of(StoreFlags.CLIENT, StoreFlags.NODE, MasterFlags.TABLE)) {
            for (Setting<?> setting : table.settings()) {
                all.put(setting.variable(), setting.initial());
            }
        }
        EngineSettings.ALL.forEach(setting -> all.put(setting.variable(), ""));
        for (String name :
                List.of("CONFIG", "REST_PORT", "REPLICAS", "LOG_LEVEL", "JAVA_OPTS", "DEBUG")) {
            all.put("CASSIA_" + name, "");
        }
        // What Kubernetes makes by itself for services of such names.
        for (String service : List.of("", "_MASTER", "_NODE", "_GATEWAY", "_CLIENT", "_METADATA")) {
            for (String end : List.of("_PORT", "_SERVICE_HOST", "_SERVICE_PORT", "_PORT_80_TCP")) {
                all.put("CASSIA" + service + end, "tcp://10.0.0.1:80");
            }
        }
        for (SettingTable table : List.of(StoreFlags.CLIENT, StoreFlags.NODE, StoreFlags.CLUSTER)) {
            assertThat(Configuration.read(table, Map.of(), all, Map.of()).isOk()).isTrue();
        }
    }
}
