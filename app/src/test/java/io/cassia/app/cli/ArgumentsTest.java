package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArgumentsTest {
    @ParameterizedTest
    @CsvSource({
        "--rpc_port, --rpc-port",
        "--rpc_port=50051, --rpc-port=50051",
        "-rpc_port=50051, --rpc-port=50051",
        "--default_kv_lease_ttl=5000, --default-kv-lease-ttl=5000",
        "--metrics_port, --metrics-port",
        "--global_segment_size=4 GB, --segment=4 GB",
        "--master_server_address=a_b:1, --master=a_b:1",
        "--put_start_discard_timeout_sec=30, --put-start-discard-timeout-sec=30",
        "--prefix=a_b, --prefix=a_b",
        "-707, -707",
        "-o, -o",
        "-, -",
        "some_key, some_key",
        "-json, -json",
        "--Key_x, --Key_x",
    })
    void upstream_spellings_become_ours_and_values_stay(String given, String ours) {
        assertThat(Arguments.normalize(given)).containsExactly(ours);
    }

    @Test
    void what_follows_two_dashes_is_left_alone() {
        assertThat(Arguments.normalize("put", "--", "--my_key"))
                .containsExactly("put", "--", "--my_key");
    }
}
