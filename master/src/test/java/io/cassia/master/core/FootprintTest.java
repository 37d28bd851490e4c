package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What an object costs the heap; the figure is printed. */
class FootprintTest {
    private static final int OBJECTS = 200_000;

    @Test
    void an_object_of_one_replica_costs_at_most_200_bytes_beside_its_key() {
        Harness master = new Harness();
        master.mount(A, 11, "node-a:1", 64 * MIB);
        String prefix = "vllm/llama-3-70b/tp8/layer-all/";
        master.put(prefix + "0", 64);
        long before = usedHeap();
        for (int i = 1; i <= OBJECTS; i++) {
            master.put(prefix + (1_000_000_000 + i), 64);
        }
        long perObject = (usedHeap() - before) / OBJECTS;
        int keyLength = prefix.length() + 10;
        // The array's header and its padding.
        int keyBytes = (12 + keyLength + 7) & ~7;
        System.out.printf(
                "%d bytes per object, of which its key %d, estimated %d%n",
                perObject, keyBytes, Space.metadataBytes(keyLength));
        assertThat(perObject - keyBytes).isLessThan(200);
        assertThat((double) Space.metadataBytes(keyLength))
                .as("the estimate that the limit goes by")
                .isBetween(0.85 * perObject, 1.15 * perObject);
        assertThat(master.stats().objects()).isEqualTo(OBJECTS + 1);
    }

    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
