package io.cassia.app.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.config.Configuration;
import io.cassia.base.config.Setting;
import io.cassia.base.config.Setting.Support;
import io.cassia.master.MasterConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class MasterFlagsTest {
    /** All flags of upstream (spec mooncake-store 13.1) with their defaults. */
    private static final String UPSTREAM =
            """
            rpc_port 50051
            rpc_thread_num 0
            max_threads 16
            rpc_interface
            rpc_conn_timeout_seconds 0
            rpc_enable_tcp_no_delay true
            metrics_port 9003
            enable_metric_reporting true
            default_kv_lease_ttl 10000
            default_kv_soft_pin_ttl 1800000
            max_kv_soft_pin_ttl 86400000
            allow_evict_soft_pinned_objects true
            eviction_ratio 0.05
            nof_eviction_ratio 0.05
            nof_eviction_high_watermark_ratio 0.90
            client_ttl 10
            client_live_ttl_sec 10
            nof_heartbeat_interval_sec 10
            nof_heartbeat_probe_timeout_ms 1000
            nof_heartbeat_failures_threshold 3
            enable_ha false
            ha_backend_type etcd
            ha_backend_connstring
            etcd_endpoints
            pod_name
            pod_namespace
            cluster_id mooncake_cluster
            enable_oplog false
            oplog_poll_interval_ms 1000
            oplog_batch_max_entries 1024
            batch_oplog_retry_timeout_sec 180
            enable_offload false
            offload_on_evict false
            offload_force_evict false
            offloading_queue_limit 50000
            offload_cap_ratio 0.5
            promotion_on_hit false
            promotion_admission_threshold 2
            promotion_queue_limit 50000
            promotion_max_per_heartbeat 1
            dynamic_replication_mode off
            dynamic_replication_heat_window_seconds 10
            dynamic_replication_admission_qps_threshold 0.8
            dynamic_replication_max_memory_replicas 2
            enable_kv_events false
            kv_events_bind_endpoint
            kv_events_backend_id
            kv_events_emit_legacy_compat true
            kv_events_emit_object_key true
            kv_events_queue_capacity 65536
            root_fs_dir
            global_file_segment_size 9223372036854775807
            enable_disk_eviction true
            quota_bytes 0
            memory_allocator offset
            allocation_strategy random
            put_start_discard_timeout_sec 30
            put_start_release_timeout_sec 600
            http_metadata_server_port 8080
            enable_metadata_cleanup_on_timeout false
            enable_multi_tenants false
            tenant_quota_connector_type file
            tenant_quota_connector_uri
            enable_snapshot false
            enable_snapshot_restore false
            snapshot_interval_seconds 600
            snapshot_child_timeout_seconds 300
            snapshot_retention_count 2
            snapshot_backup_dir
            snapshot_object_store_type
            snapshot_payload_store_type
            snapshot_payload_backend_type
            snapshot_catalog_store_type
            snapshot_catalog_backend_type
            snapshot_catalog_store_connstring
            snapshot_catalog_backend_connstring
            max_total_finished_tasks 10000
            max_total_pending_tasks 10000
            max_total_processing_tasks 10000
            pending_task_timeout_sec 300
            processing_task_timeout_sec 300
            max_retry_attempts 10
            enable_cxl false
            cxl_path /dev/dax0.0
            cxl_size 8589934592
            log_dir
            """;

    /** Those whose default differs, each with a reason in the table. */
    private static final Map<String, String> DIFFERENT =
            Map.of(
                    "rpc_address", "0.0.0.0",
                    "metrics_host", "0.0.0.0",
                    "http_metadata_server_host", "0.0.0.0",
                    "enable_http_metadata_server", "false",
                    "eviction_high_watermark_ratio", "0.90");

    private static Configuration read(Map<String, String> file) {
        return Configuration.read(MasterFlags.TABLE, file, Map.of(), Map.of()).orThrow();
    }

    @Test
    void every_flag_of_upstream_is_known_with_its_default() {
        Configuration defaults = read(Map.of());
        for (String line : UPSTREAM.lines().toList()) {
            List<String> parts = List.of(line.split(" ", -1));
            Setting<?> setting = MasterFlags.TABLE.find(parts.getFirst()).orElseThrow();
            assertThat(defaults.find(setting))
                    .as(line)
                    .isEqualTo(
                            parts.size() == 1
                                    ? java.util.Optional.empty()
                                    : java.util.Optional.of(setting.type().parse(parts.get(1))));
        }
        DIFFERENT.forEach(
                (name, value) -> {
                    Setting<?> setting = MasterFlags.TABLE.find(name).orElseThrow();
                    assertThat(setting.type().parse(value).toString())
                            .isNotEqualTo(setting.initial());
                });
    }

    @Test
    void a_file_of_mooncakes_with_all_its_defaults_starts_a_master() {
        Map<String, String> file = new HashMap<>(DIFFERENT);
        for (String line : UPSTREAM.lines().toList()) {
            List<String> parts = List.of(line.split(" ", -1));
            if (!parts.getFirst().equals("client_live_ttl_sec")) {
                file.put(parts.getFirst(), parts.size() == 1 ? "" : parts.get(1));
            }
        }
        MasterSettings settings = MasterSettings.of(read(file)).orThrow();
        assertThat(settings.config().rpcHost()).isEqualTo("0.0.0.0");
        assertThat(settings.config().evictionHighWatermarkRatio()).isEqualTo(0.9);
        assertThat(settings.metadataPort()).isEqualTo(MasterSettings.NO_METADATA);
    }

    @Test
    void defaults_of_the_table_are_those_of_the_configuration_record() {
        MasterConfig made = MasterSettings.of(read(Map.of())).orThrow().config();
        MasterConfig expected =
                MasterConfig.DEFAULT.toBuilder()
                        .rpc("127.0.0.1", 50051)
                        .http("127.0.0.1", 9003)
                        .reportMetrics(true)
                        .build();
        assertThat(made).isEqualTo(expected);
    }

    static List<Setting<?>> settings() {
        return MasterFlags.TABLE.settings();
    }

    @ParameterizedTest
    @MethodSource("settings")
    void every_setting_has_a_possible_default_and_a_text(Setting<?> setting) {
        if (!setting.initial().isEmpty()) {
            assertThat(setting.type().parse(setting.initial())).isNotNull();
        }
        boolean full = setting.support() instanceof Support.Full;
        assertThat(setting.meaning().isEmpty()).isNotEqualTo(full);
    }

    /** A setting that changes nothing in the configuration of the master would be a lie. */
    @ParameterizedTest
    @CsvSource({
        "rpc-port, 1",
        "rpc-host, h",
        "rpc-interface, lo",
        "rpc-conn-timeout-seconds, 5",
        "http-port, 2",
        "http-host, h",
        "enable-metric-reporting, false",
        "metadata-port, 3",
        "metadata-host, h",
        "enable-http-metadata-server, false",
        "default-kv-lease-ttl, 1s",
        "default-kv-soft-pin-ttl, 1s",
        "max-kv-soft-pin-ttl, 48h",
        "allow-evict-soft-pinned-objects, false",
        "eviction-high-watermark-ratio, 0.5",
        "eviction-ratio, 0.5",
        "client-ttl, 1",
        "client-wipe-timeout, 60",
        "require-all-replicas, on",
        "put-start-discard-timeout, 1",
        "put-start-release-timeout, 60",
        "allocation-strategy, local_first",
        "cluster-id, c",
        "enable-multi-tenants, true",
        "tenant-quota-connector-uri, /t.yaml",
        "enable-disk-eviction, false",
        "quota-bytes, 1GB",
        "max-total-finished-tasks, 1",
        "max-total-pending-tasks, 1",
        "max-total-processing-tasks, 1",
        "pending-task-timeout-sec, 1",
        "processing-task-timeout-sec, 1",
        "max-retry-attempts, 1",
        "service-version, 3",
        "max-metadata, 1GB",
        "max-objects, 5",
        "max-clients, 5",
        "max-leases, 5",
    })
    void every_effective_setting_reaches_the_master(String name, String value) {
        // On this host "lo" has the default's address.
        Map<String, String> base =
                name.equals("rpc-interface") ? Map.of("rpc-host", "h") : Map.of();
        Map<String, String> changed = new HashMap<>(base);
        changed.put(name, value);
        assertThat(MasterSettings.of(read(changed)).orThrow())
                .isNotEqualTo(MasterSettings.of(read(base)).orThrow());
    }

    @Test
    void events_are_off_or_have_an_endpoint() {
        assertThat(MasterSettings.of(read(Map.of("enable_kv_events", "true"))))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(StoreCode.INVALID_PARAMS);
                            assertThat(failed.detail()).contains("kv-events-bind-endpoint");
                        });
        MasterConfig config =
                MasterSettings.of(
                                read(
                                        Map.of(
                                                "enable_kv_events", "true",
                                                "kv_events_bind_endpoint", "tcp://127.0.0.1:5557",
                                                "kv_events_queue_capacity", "0")))
                        .orThrow()
                        .config();
        assertThat(config.kvEvents()).isPresent();
        assertThat(config.kvEvents().orElseThrow().backendId()).isEqualTo("mooncake_cluster");
        assertThat(config.kvEvents().orElseThrow().queueCapacity()).isEqualTo(1_000_000);
    }

    @ParameterizedTest
    @CsvSource({
        "enable_ha, true",
        "memory_allocator, cachelib",
        "enable_snapshot, 1",
        "root_fs_dir, /mnt",
        "dynamic_replication_mode, enforce"
    })
    void what_is_not_there_stops_the_start(String name, String value) {
        assertThat(Configuration.read(MasterFlags.TABLE, Map.of(name, value), Map.of(), Map.of()))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed ->
                                assertThat(failed.code())
                                        .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_MODE));
    }
}
