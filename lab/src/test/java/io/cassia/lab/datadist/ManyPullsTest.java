package io.cassia.lab.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.DataDistOptions;
import io.cassia.datadist.LlmDataDist;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.cache.Placement;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.PoolConfig;
import io.cassia.transfer.transport.Transport;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * 1024 requests pulled at once, each 4 x 2,424,832 and 4 x 16,384 bytes, hashed on both sides: 10
 * GB from another process. Places for the large part are fewer, and each is used again and again.
 */
class ManyPullsTest {
    private static final int REQUESTS = 1024;
    private static final int SOURCES = 32;
    private static final int PLACES = 96;
    private static final int TENSORS = 4;
    private static final int LARGE = 2_424_832;
    private static final int SMALL = 16_384;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final TransferOptions CALM = TransferOptions.DEFAULT.withTimeout(LIMIT);

    private static CacheDesc desc(int batches, int bytes) {
        return CacheDesc.device(TENSORS, DataType.INT8, batches, bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"local,shm,process-vm,uds,tcp", "tcp"})
    void a_thousand_requests_at_once_arrive_as_they_were(String transports) throws Exception {
        Set<Transport> allowed =
                transports.equals("tcp") ? Set.of(Transport.TCP) : EnumSet.allOf(Transport.class);
        long pool = (long) TENSORS * (PLACES * (long) LARGE + REQUESTS * (long) SMALL) + (1 << 20);
        try (ClusterProcess prompt =
                        ClusterProcess.prompt(
                                1,
                                ClusterProcess.freePort(),
                                "ge.flowGraphMemMaxSize=" + (400L << 20),
                                "llm.DataTransports=" + transports);
                LlmDataDist decoder = new LlmDataDist(2, LlmRole.DECODER)) {
            decoder.initialize(
                            DataDistOptions.builder()
                                    .dataHost("127.0.0.1")
                                    .syncTimeout(LIMIT)
                                    .linkChannels(8)
                                    .transports(allowed)
                                    .devicePool(PoolConfig.ofBytes(pool).orThrow())
                                    .build())
                    .orThrow();
            decoder.linkClusters(List.of(prompt.info()), LIMIT).overall().orThrow();
            Offer large = offer(prompt, LARGE, 100);
            Offer small = offer(prompt, SMALL, 200);
            Cache largeHere = decoder.allocateCache(desc(PLACES, LARGE)).orThrow();
            Cache smallHere = decoder.allocateCache(desc(REQUESTS, SMALL)).orThrow();
            pullAll(decoder, large, small, largeHere, smallHere);
            decoder.deallocateCache(largeHere).orThrow();
            decoder.deallocateCache(smallHere).orThrow();
            assertThat(decoder.poolStats(Placement.DEVICE).orElseThrow().usedBytes()).isZero();
            assertThat(decoder.links()).hasSize(1);
        }
    }

    /** A cache there, and the checksum of each of its batches as the owner says it. */
    private record Offer(long cacheId, List<String> sums) {}

    private static Offer offer(ClusterProcess prompt, int bytes, int seed) {
        long id = prompt.allocate("%d %d %d".formatted(TENSORS, SOURCES, bytes));
        prompt.askOk("fill " + id + " " + seed);
        List<String> sums = new ArrayList<>();
        for (int batch = 0; batch < SOURCES; batch++) {
            sums.add(prompt.askOk("sum " + id + " " + batch));
        }
        assertThat(sums).doesNotHaveDuplicates();
        return new Offer(id, sums);
    }

    private static void pullAll(
            LlmDataDist decoder, Offer large, Offer small, Cache largeHere, Cache smallHere)
            throws Exception {
        BlockingQueue<Integer> places = new ArrayBlockingQueue<>(PLACES);
        for (int place = 0; place < PLACES; place++) {
            places.add(place);
        }
        CountDownLatch all = new CountDownLatch(REQUESTS);
        List<Callable<Integer>> requests = new ArrayList<>();
        for (int request = 0; request < REQUESTS; request++) {
            int number = request;
            requests.add(
                    () -> {
                        all.countDown();
                        all.await();
                        pull(decoder, small, number % SOURCES, smallHere, number);
                        int place = places.take();
                        clear(largeHere, place);
                        pull(decoder, large, (number * 7) % SOURCES, largeHere, place);
                        places.add(place);
                        return number;
                    });
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            int done = 0;
            for (Future<Integer> future : threads.invokeAll(requests)) {
                assertThat(future.get()).isEqualTo(done++);
            }
            assertThat(done).isEqualTo(REQUESTS);
        }
    }

    private static void pull(LlmDataDist decoder, Offer from, int batch, Cache into, int place) {
        decoder.pullCache(new CacheIndex(1, from.cacheId(), batch), into, place, CALM).orThrow();
        assertThat(Contents.sum(into, place))
                .as("batch %d in place %d", batch, place)
                .isEqualTo(from.sums().get(batch));
    }

    /** Bytes of the request before must not pass for those of this one. */
    private static void clear(Cache cache, int place) {
        for (MemorySegment tensor : cache.tensors()) {
            var _ = tensor.asSlice((long) place * LARGE, LARGE).fill((byte) 0);
        }
    }
}
