package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.TENANT;
import static io.cassia.master.core.Harness.key;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.Acquire;
import io.cassia.rpc.cassia.CassiaMessages.Acquired;
import io.cassia.status.Outcome;
import io.cassia.testkit.SharedFiles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The blocks of recorded conversations against a pool that is much too small for them. */
class TraceTest {
    private static final int BLOCKS = 10_000;

    /** Requests of the trace; enough to turn the pool over several times. */
    private static final int REQUESTS = 2500;

    private static List<List<String>> requests() {
        JsonMapper json = new JsonMapper();
        List<List<String>> requests = new ArrayList<>();
        for (String line : SharedFiles.requireLines("traces/conversation_trace.jsonl")) {
            List<String> blocks = new ArrayList<>();
            for (JsonNode block : json.readTree(line).get("hash_ids")) {
                blocks.add(block.asString());
            }
            requests.add(blocks);
            if (requests.size() == REQUESTS) {
                break;
            }
        }
        return requests;
    }

    /** Hits of plain LRU that keeps the blocks of the running request. */
    private static int plainLru(List<List<String>> requests) {
        LinkedHashMap<String, Boolean> cache = new LinkedHashMap<>(16, 0.75f, true);
        int hits = 0;
        for (List<String> blocks : requests) {
            int prefix = 0;
            while (prefix < blocks.size() && cache.get(blocks.get(prefix)) != null) {
                prefix++;
            }
            hits += prefix;
            for (String block : blocks.subList(prefix, blocks.size())) {
                if (cache.put(block, true) == null && cache.size() > BLOCKS) {
                    Map.Entry<String, Boolean> eldest = cache.entrySet().iterator().next();
                    cache.remove(eldest.getKey());
                }
            }
        }
        return hits;
    }

    @Test
    void acquire_and_release_hit_as_often_as_plain_lru() {
        List<List<String>> requests = requests();
        Harness master = new Harness();
        master.mount(A, 11, "node-a:1", BLOCKS * KIB);
        int hits = 0;
        for (List<String> blocks : requests) {
            List<ByteString> keys = blocks.stream().map(ByteString::of).toList();
            Acquired acquired =
                    master.apply(new Command.Acquire(new Acquire(keys, TENANT, true, 0)));
            int prefix = acquired.objects().size();
            master.release(acquired.leaseId());
            hits += prefix;
            putMissing(master, blocks.subList(prefix, blocks.size()));
        }
        CoreChecks.verify(master.core);
        assertThat(hits).isEqualTo(plainLru(requests)).isPositive();
    }

    /** The figures are printed: this is where another policy would have to be better. */
    @Test
    void policies_are_compared_on_a_trace_of_conversations() {
        List<List<String>> requests = requests();
        for (EvictionPolicy policy : EvictionPolicy.values()) {
            Harness master =
                    new Harness(
                            settings -> {
                                settings.policy = policy;
                                return settings;
                            });
            master.mount(A, 11, "node-a:1", BLOCKS * KIB);
            int hits = 0;
            int blocks = 0;
            for (List<String> request : requests) {
                List<ByteString> keys = request.stream().map(ByteString::of).toList();
                Acquired acquired =
                        master.apply(new Command.Acquire(new Acquire(keys, TENANT, true, 0)));
                int prefix = acquired.objects().size();
                master.release(acquired.leaseId());
                hits += prefix;
                blocks += request.size();
                putMissing(master, request.subList(prefix, request.size()));
            }
            CoreChecks.verify(master.core);
            System.out.printf("%s: hit ratio %.4f%n", policy, hits / (double) blocks);
            assertThat(hits).isGreaterThan(plainLru(requests) * 9 / 10);
        }
    }

    @Test
    void with_leases_by_time_no_put_fails_and_most_hits_stay() {
        List<List<String>> requests = requests();
        Harness master = new Harness();
        master.mount(A, 11, "node-a:1", BLOCKS * KIB);
        int hits = 0;
        for (List<String> blocks : requests) {
            master.sleep(Duration.ofMillis(1));
            int prefix = 0;
            while (prefix < blocks.size() && ok(master.exist(blocks.get(prefix)))) {
                prefix++;
            }
            for (String block : blocks.subList(0, prefix)) {
                ok(master.get(block));
            }
            hits += prefix;
            putMissing(master, blocks.subList(prefix, blocks.size()));
        }
        CoreChecks.verify(master.core);
        assertThat(hits / (double) plainLru(requests)).isGreaterThan(0.85);
    }

    private static void putMissing(Harness master, List<String> blocks) {
        for (String block : blocks) {
            Outcome<?> started = master.start(A, key(block).text(), KIB);
            if (started.isOk()) {
                ok(master.end(A, block));
            }
        }
    }
}
