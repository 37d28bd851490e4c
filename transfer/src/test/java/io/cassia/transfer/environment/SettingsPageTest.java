package io.cassia.transfer.environment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SettingsPageTest {
    private static final String HINT =
            "docs/configuration.md differs from the table of settings; write it anew with:"
                    + " mvn test -pl transfer -am -Dtest=SettingsPageTest"
                    + " -Dsurefire.failIfNoSpecifiedTests=false -Dcassia.regenerate=true";

    @Test
    void configuration_md_holds_what_the_generator_writes() throws IOException {
        Path file = Path.of(System.getProperty("cassia.root", ".."), "docs", "configuration.md");
        String page = Files.readString(file);
        int begin = page.indexOf(SettingsPage.BEGIN);
        int end = page.indexOf(SettingsPage.END);
        assertThat(begin).isNotNegative();
        assertThat(end).isGreaterThan(begin);
        int from = begin + SettingsPage.BEGIN.length();
        if (Boolean.getBoolean("cassia.regenerate")) {
            page = page.substring(0, from) + SettingsPage.markdown() + page.substring(end);
            Files.writeString(file, page);
            end = page.indexOf(SettingsPage.END);
        }
        assertThat(page.substring(from, end)).as(HINT).isEqualTo(SettingsPage.markdown());
    }

    /** Section 11 of the specification; an entry that ends with a star stands for a family. */
    private static final String VARIABLES =
            """
            MC_METADATA_CLUSTER_ID MC_REDIS_USERNAME MC_REDIS_PASSWORD MC_REDIS_DB_INDEX
            MC_DISABLE_METACACHE MC_TE_METADATA_REFRESH_INTERVAL_SECONDS MC_LOG_LEVEL MC_LOG_DIR
            MC_TRANSFER_TIMEOUT MC_SLICE_TIMEOUT MC_TE_METRIC MC_TE_METRIC_INTERVAL_SECONDS
            MC_USE_IPV6 MC_MIN_RPC_PORT MC_MAX_RPC_PORT MC_MIN_PRC_PORT MC_MAX_PRC_PORT
            MC_LEGACY_RPC_PORT_BINDING MC_TE_RPC_CLIENT_IO_THREADS MC_RPC_CLIENT_IO_THREADS
            MC_HANDSHAKE_PORT MC_HANDSHAKE_LISTEN_BACKLOG MC_HANDSHAKE_CONNECT_TIMEOUT
            MC_HANDSHAKE_MAX_LENGTH MC_FORCE_TCP MC_TCP_BIND_ADDRESS MC_TCP_ENABLE_CONNECTION_POOL
            MC_TCP_LANES_PER_PEER MC_TCP_MAX_CONNECTIONS_PER_PEER
            MC_TCP_MAX_QUEUED_TRANSFERS_PER_PEER MC_TCP_MAX_PENDING_ADMISSIONS_PER_PEER
            MC_TCP_ADMISSION_TIMEOUT_MS MC_TCP_STATUS_TIMEOUT_SEC MC_TCP_SLICE_SIZE MC_TCP_PROTO
            MC_CUSTOM_TOPO_JSON MC_TE_FILTERS MC_PATH_ROUNDROBIN MC_ENABLE_DEST_DEVICE_AFFINITY
            MC_ENABLE_HCA_PEER_AFFINITY MC_NIC_PEER_AFFINITY MC_LOG_RDMA_SLICE_AFFINITY
            MC_FORCE_HCA MC_FORCE_MNNVL MC_FORCE_MUSA MC_INTRANODE_NVLINK MC_ENABLE_MNNVL
            MC_DISABLE_HIP MC_DISABLE_MACA MC_DISABLE_MUSA MC_NUM_* MC_IB_* MC_GID_INDEX
            NCCL_IB_GID_INDEX MC_PKEY_INDEX MC_MAX_* MC_MTU MC_WORKERS_PER_CTX MC_SLICE_SIZE
            MC_FRAGMENT_RATIO MC_RETRY_CNT MC_AUTO_GID_MAX_RETRIES MC_RDMA_* MC_CONN_PAUSE_TTL_MS
            MC_ENDPOINT_STORE_TYPE MC_ENABLE_PARALLEL_REG_MR MC_MLX5_* MC_TRACK_RDMA_POSTED_SLICES
            WITH_NVIDIA_PEERMEM MC_EFA_* MC_MIN_REG_SIZE MC_CXL_* MC_HIP_* MC_MACA_* MC_MUSA_*
            MC_UBSHMEM_* ASCEND_* MC_TPU_PJRT_LIB MC_USE_TENT MC_USE_TEV1 MC_TENT_*
            """;

    @Test
    void every_variable_of_the_specification_is_a_setting_or_accounted_for() throws IOException {
        String page = Files.readString(Path.of(System.getProperty("cassia.root", ".."), "docs", "configuration.md"));
        assertThat(VARIABLES.strip().split("\\s+"))
                .allSatisfy(name -> assertThat(page).contains("`" + name + "`"));
    }
}
