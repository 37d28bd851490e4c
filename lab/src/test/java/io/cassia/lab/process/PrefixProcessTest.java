package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.app.replay.ConversationWorkload;
import io.cassia.app.replay.Trace;
import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Prefixes of conversations, asked for, read and stored by several clients at once. */
class PrefixProcessTest {
    private static final int CLIENTS = 4;
    private static final int BLOCK_BYTES = 3000;
    private static final Trace TRACE = ConversationWorkload.trace(7, 600);

    private final AtomicLong hits = new AtomicLong();

    private static List<ByteString> keys(int request) {
        List<ByteString> keys = new ArrayList<>();
        for (int i = TRACE.start(request); i < TRACE.end(request); i++) {
            keys.add(ByteString.of("block-" + TRACE.id(i)));
        }
        return keys;
    }

    private static long seed(int request, int block) {
        return TRACE.id(TRACE.start(request) + block) << 20;
    }

    /** The work of one client on one request. */
    private interface Work {
        void run(StoreClient client, int request, List<MemorySegment> buffers);
    }

    /** Each of the clients has all requests, in an order of its own. */
    private static void work(ProcessCluster cluster, Work work) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                long order = i;
                running.add(threads.submit(() -> work(cluster, order, work)));
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
    }

    private static void work(ProcessCluster cluster, long order, Work work) {
        Random random = new Random(order);
        try (StoreClient client = cluster.client();
                Arena arena = Arena.ofShared()) {
            List<MemorySegment> buffers = new ArrayList<>();
            for (int i = 0; i < TRACE.longestRequest(); i++) {
                buffers.add(arena.allocate(BLOCK_BYTES, 8));
            }
            for (int i = 0; i < TRACE.requests(); i++) {
                int request = random.nextInt(TRACE.requests());
                work.run(client, request, buffers);
            }
        }
    }

    /** Reads what is there, proves it, and stores the rest; how many blocks were there. */
    private int serve(StoreClient client, int request, List<MemorySegment> buffers) {
        List<ByteString> keys = keys(request);
        List<Outcome<Long>> got = client.getPrefix(keys, buffers.subList(0, keys.size()));
        assertThat(got.size()).isLessThanOrEqualTo(keys.size());
        int first = 0;
        while (first < got.size() && got.get(first).isOk()) {
            assertThat(got.get(first)).isEqualTo(Outcome.ok((long) BLOCK_BYTES));
            assertThat(Bytes.firstWrong(buffers.get(first), seed(request, first))).isEqualTo(-1);
            first++;
        }
        hits.addAndGet(first);
        List<MemorySegment> values = buffers.subList(first, keys.size());
        for (int i = 0; i < values.size(); i++) {
            Bytes.fill(values.get(i), seed(request, first + i));
        }
        List<ByteString> missing = keys.subList(first, keys.size());
        for (Outcome<Done> stored : client.putBatch(missing, values, PutOptions.DEFAULT)) {
            if (stored instanceof Outcome.Failed<Done> failed) {
                // Another client stores it, or has.
                assertThat(failed.code())
                        .isIn(StoreCode.OBJECT_ALREADY_EXISTS, StoreCode.NO_AVAILABLE_HANDLE);
            }
        }
        return got.size();
    }

    @Test
    void with_room_for_all_a_prefix_only_grows_and_each_block_is_there_once() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start()) {
            cluster.node("32MiB");
            cluster.remoteNode("32MiB");
            work(
                    cluster,
                    (client, request, buffers) -> {
                        List<ByteString> keys = keys(request);
                        int before = client.longestPrefix(keys).orThrow();
                        int read = serve(client, request, buffers);
                        int after = client.longestPrefix(keys).orThrow();
                        assertThat(before).isLessThanOrEqualTo(read);
                        assertThat(read).isLessThanOrEqualTo(after);
                    });
            try (StoreClient client = cluster.client();
                    Arena arena = Arena.ofShared()) {
                List<MemorySegment> buffers = new ArrayList<>();
                for (int i = 0; i < TRACE.longestRequest(); i++) {
                    buffers.add(arena.allocate(BLOCK_BYTES, 8));
                }
                for (int request = 0; request < TRACE.requests(); request++) {
                    serve(client, request, buffers);
                    int blocks = keys(request).size();
                    assertThat(client.longestPrefix(keys(request))).isEqualTo(Outcome.ok(blocks));
                    assertThat(serve(client, request, buffers)).isEqualTo(blocks);
                }
                Stats stats = client.stats().orThrow();
                assertThat(stats.objects()).isEqualTo(TRACE.distinctBlocks());
                assertThat(stats.evictedObjects()).isZero();
                assertThat(hits.get()).isPositive();
            }
        }
    }

    @Test
    void with_little_room_what_is_read_is_right_all_the_same() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start("--default-kv-lease-ttl", "500ms")) {
            cluster.node("2MiB");
            cluster.remoteNode("2MiB");
            work(cluster, this::serve);
            try (StoreClient client = cluster.client()) {
                assertThat(client.stats().orThrow().evictedObjects()).isPositive();
                assertThat(hits.get()).isPositive();
            }
        }
    }
}
