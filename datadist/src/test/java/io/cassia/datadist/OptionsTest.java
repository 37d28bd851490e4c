package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.link.IpInfo;
import io.cassia.datadist.memory.PoolConfig;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Options of the spec (section 4) and its vectors (2.2). */
final class OptionsTest {
    @Test
    void defaults_are_those_of_the_spec() {
        DataDistOptions options = parse(Map.of("llm.DeviceId", "0")).orThrow();
        assertThat(options).isEqualTo(DataDistOptions.builder().build());
        assertThat(options.syncTimeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.roleGating()).isTrue();
        assertThat(options.switchRole()).isFalse();
        assertThat(options.maxLinks()).isEqualTo(512);
        assertThat(options.linkRetryCount()).isEqualTo(1);
        assertThat(options.devicePool().eager()).isFalse();
    }

    @Test
    void keys_of_both_apis_are_understood() {
        Map<String, String> keys = new HashMap<>();
        keys.put("ge.exec.deviceId", "3");
        keys.put("ge.session_device_id", "3");
        keys.put("llm.listenIpInfo", "127.0.0.1:26000");
        keys.put("llm.SyncKvCacheWaitTime", "5000");
        keys.put("llm.EnableSwitchRole", "1");
        keys.put("llm.EnableCacheManager", "1");
        keys.put("llm.EnableRemoteCacheAccessible", "0");
        keys.put("llm.MemPoolConfig", "{\"memory_size\": 1048576, \"page_shift\": 12}");
        keys.put("llm.HostMemPoolConfig", "{\"memory_size\": 65536}");
        keys.put("llm.RdmaTrafficClass", "132");
        keys.put("llm.RdmaServiceLevel", "7");
        keys.put("llm.LinkTotalTime", "4294967295");
        keys.put("llm.LinkRetryCount", "100");
        keys.put("llm.MemoryUtilization", "0.95");
        keys.put("llm.TransferBackend", "hixl");
        keys.put("llm.GlobalResourceConfig", "{}");
        keys.put("llm.LocalCommRes", "{\"version\": \"1.3\"}");
        keys.put("llm.Role", "Prompt");
        DataDistOptions options = parse(keys).orThrow();
        assertThat(options.listen()).contains(new IpInfo("127.0.0.1", 26000));
        assertThat(options.syncTimeout()).isEqualTo(Duration.ofSeconds(5));
        assertThat(options.switchRole()).isTrue();
        assertThat(options.remoteAccess()).isFalse();
        assertThat(options.devicePool().config())
                .isEqualTo(PoolConfig.paged(1 << 20, 12).orThrow());
        assertThat(options.hostPool().config().totalBytes()).isEqualTo(65536);
        assertThat(options.maxLinks()).isEqualTo(Integer.MAX_VALUE);
        assertThat(options.idleKeys())
                .containsExactlyInAnyOrder(
                        "llm.EnableCacheManager",
                        "llm.RdmaTrafficClass",
                        "llm.RdmaServiceLevel",
                        "llm.LinkTotalTime",
                        "llm.MemoryUtilization",
                        "llm.GlobalResourceConfig",
                        "llm.Role");
    }

    @Test
    void own_keys_are_understood() {
        Map<String, String> keys = new HashMap<>();
        keys.put("llm.RoleGating", "0");
        keys.put("llm.LinkChannels", "4");
        keys.put("llm.HeartbeatMillis", "500");
        keys.put("llm.RelinkTries", "9");
        keys.put("llm.KeyTtlMillis", "60000");
        keys.put("llm.KeyWaitMillis", "250");
        keys.put("llm.DisabledPools", "device,host");
        keys.put("llm.DataHost", "10.0.0.9");
        keys.put("llm.DataTransports", "tcp, shm");
        keys.put("llm.Token", "secret");
        DataDistOptions options = withDevice(keys).orThrow();
        assertThat(options.roleGating()).isFalse();
        assertThat(options.linkChannels()).isEqualTo(4);
        assertThat(options.heartbeat()).isEqualTo(Duration.ofMillis(500));
        assertThat(options.relinkTries()).isEqualTo(9);
        assertThat(options.keyTtl()).contains(Duration.ofMinutes(1));
        assertThat(options.keyWait()).isEqualTo(Duration.ofMillis(250));
        assertThat(options.devicePool().config().isOff()).isTrue();
        assertThat(options.hostPool().config().isOff()).isTrue();
        assertThat(options.dataHost()).contains("10.0.0.9");
        assertThat(options.transports()).containsExactly(Transport.SHM, Transport.TCP);
        assertThat(options.credentials().token()).isPresent();
        assertThat(options.credentials().toString()).doesNotContain("secret");
    }

    @Test
    void unknown_keys_are_kept_for_diagnostics() {
        DataDistOptions options = withDevice(Map.of("llm.SyncKvCacheWaitTimes", "1")).orThrow();
        assertThat(options.unknownKeys()).containsExactly("llm.SyncKvCacheWaitTimes");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            emptyValue = "",
            value = {
                "llm.DeviceId|''",
                "llm.DeviceId|a",
                "llm.DeviceId|-1",
                "llm.DeviceId|2147483648",
                "llm.DeviceId|0;1",
                "llm.ListenIpInfo|127.0.0.1",
                "llm.ListenIpInfo|127.0.1:26000",
                "llm.ListenIpInfo|256.0.0.1:26000",
                "llm.ListenIpInfo|a.a.a.a:26000",
                "llm.ListenIpInfo|:-1",
                "llm.ListenIpInfo|:",
                "llm.ListenIpInfo|:a",
                "llm.ListenIpInfo|127.0.0.1:0",
                "llm.ListenIpInfo|127.0.0.1:65536",
                "llm.ListenIpInfo|127.0.0.1:26000;127.0.0.1:26001",
                "llm.SyncKvCacheWaitTime|0",
                "llm.SyncKvCacheWaitTime|-5",
                "llm.SyncKvCacheWaitTime|1.5",
                "llm.SyncKvCacheWaitTime|2147483648",
                "llm.BufPoolCfg|''",
                "llm.BufPoolCfg|{}",
                "llm.BufPoolCfg|{\"buf_pool_size\": 0}",
                "llm.MemPoolConfig|{\"page_shift\": 16}",
                "llm.HostMemPoolConfig|none",
                "ge.flowGraphMemMaxSize|1 GB",
                "ge.flowGraphMemMaxSize|0",
                "llm.EnableSwitchRole|true",
                "llm.EnableRemoteCacheAccessible|2",
                "llm.EnableCacheManager|yes",
                "llm.LinkRetryCount|0",
                "llm.LinkRetryCount|101",
                "llm.LinkTotalTime|4294967296",
                "llm.RdmaTrafficClass|133",
                "llm.RdmaTrafficClass|256",
                "llm.RdmaServiceLevel|8",
                "llm.MemoryUtilization|1.1",
                "llm.MemoryUtilization|most",
                "llm.TransferBackend|classic",
                "llm.GlobalResourceConfig|[]",
                "llm.LocalCommRes|{\"version\": \"2.0\"}",
                "llm.RoleGating|off",
                "llm.LinkChannels|0",
                "llm.LinkChannels|65",
                "llm.HeartbeatMillis|9",
                "llm.KeyTtlMillis|0",
                "llm.DisabledPools|gpu",
                "llm.DataHost|' '",
                "llm.Token|''",
                "llm.ControlTls|2",
            })
    void a_bad_value_is_refused_by_the_name_of_its_key(String key, String value) {
        Map<String, String> keys = new HashMap<>(Map.of("llm.DeviceId", "0"));
        keys.put(key, value);
        Expect.invalid(parse(keys), "option " + key);
    }

    @Test
    void rules_between_keys_are_checked() {
        Expect.invalid(parse(Map.of()), "llm.DeviceId is missing");
        Expect.invalid(withDevice(Map.of("llm.TransferBackend", "hixl")), "ListenIpInfo");
        Expect.invalid(
                withDevice(
                        Map.of(
                                "llm.BufPoolCfg",
                                "{\"buf_pool_size\": 4096}",
                                "llm.MemPoolConfig",
                                "{\"memory_size\": 65536}")),
                "only one pool");
        Expect.invalid(withDevice(Map.of("llm.ControlTls", "1")), "llm.TlsKeyStore");
        Expect.invalid(
                withDevice(
                        Map.of(
                                "llm.ControlTls",
                                "1",
                                "llm.TlsKeyStore",
                                "no-such-file.p12",
                                "llm.TlsTrustStore",
                                "no-such-file.p12")),
                "no-such-file.p12");
        Expect.invalid(withDevice(Map.of("llm.DataTls", "1")), "llm.ControlTls=1");
        Expect.invalid(withDevice(Map.of("llm.DataTransports", "pigeon")), "'pigeon'");
        Expect.invalid(withDevice(Map.of("llm.DataTransports", "")), "''");
        assertThat(
                        withDevice(Map.of("ge.flowGraphMemMaxSize", "1048576"))
                                .orThrow()
                                .devicePool()
                                .config()
                                .totalBytes())
                .isEqualTo(1 << 20);
    }

    @Test
    void every_key_is_explained() {
        List<OptionHelp> help = OptionKeys.help();
        assertThat(help).extracting(OptionHelp::key).doesNotHaveDuplicates().hasSizeGreaterThan(35);
        assertThat(help)
                .allMatch(option -> !option.meaning().isEmpty() && !option.standard().isEmpty());
    }

    private static Outcome<DataDistOptions> withDevice(Map<String, String> more) {
        Map<String, String> keys = new HashMap<>(more);
        keys.put("llm.DeviceId", "0");
        return parse(keys);
    }

    private static Outcome<DataDistOptions> parse(Map<String, String> keys) {
        return DataDistOptions.parse(keys);
    }
}
