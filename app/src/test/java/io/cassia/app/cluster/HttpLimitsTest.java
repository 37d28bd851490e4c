package io.cassia.app.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HttpLimitsTest {
    @Test
    void an_upload_to_the_rest_service_may_take_as_long_as_bytes_come() {
        HttpLimits.apply();
        assertThat(System.getProperty("jdk.httpserver.maxConnections")).isNotNull();
        assertThat(System.getProperty("sun.net.httpserver.maxReqTime")).isNull();
        assertThat(System.getProperty("sun.net.httpserver.maxRspTime")).isNull();
    }
}
