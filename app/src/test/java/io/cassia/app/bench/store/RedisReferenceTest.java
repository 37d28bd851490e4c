package io.cassia.app.bench.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.app.bench.store.StoreCell.Operation;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class RedisReferenceTest {
    @Test
    void a_server_of_its_own_is_measured_and_ended() throws Exception {
        Optional<RedisReference> started = RedisReference.start();
        Assumptions.assumeTrue(started.isPresent(), "no redis-server or redis-benchmark here");
        try (RedisReference redis = started.orElseThrow()) {
            Map<Operation, Double> rates = redis.measure(4096, 4, 200);
            assertThat(rates).containsOnlyKeys(Operation.PUT, Operation.GET);
            assertThat(rates.values()).allMatch(rate -> rate > 0);
        }
    }
}
