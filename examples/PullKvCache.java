import io.cassia.datadist.DataDistOptions;
import io.cassia.datadist.LlmDataDist;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.exchange.LayerBlocks;
import io.cassia.datadist.exchange.LayerPushConfig;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.PoolConfig;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Hands the KV cache of a request from prefill to decode: a prompt and a decoder, each in a process
 * of its own, with the geometry of Llama-3-8B. The decoder pulls the cache by its key, then by
 * blocks; then the prompt pushes it layer by layer. Every byte is checked.
 *
 * <p>README.md beside this file says how to run it. It starts itself once more as the prompt.
 */
public class PullKvCache {
    static final int LAYERS = 32;
    static final int KV_HEADS = 8;
    static final int HEAD_DIM = 128;
    static final int TOKENS = 1024;
    static final int BLOCK_TOKENS = 16;
    static final int BLOCKS = TOKENS / BLOCK_TOKENS;

    static final long PROMPT = 1;
    static final long DECODER = 2;
    static final CacheKey REQUEST = CacheKey.request(PROMPT, 4711);
    static final Duration LIMIT = Duration.ofSeconds(30);

    /** K and V of each layer, a request in one piece: 128 MiB. */
    static final CacheDesc WHOLE =
            CacheDesc.device(2 * LAYERS, DataType.BF16, 1, TOKENS, KV_HEADS, HEAD_DIM);

    /** The same in blocks of 16 tokens, as a paged attention kernel wants them. */
    static final CacheDesc PAGED =
            CacheDesc.device(2 * LAYERS, DataType.BF16, BLOCKS, BLOCK_TOKENS, KV_HEADS, HEAD_DIM);

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("prompt")) {
            prompt();
        } else {
            decoder();
        }
    }

    /** The prefill side: offers its caches, and pushes one when it is told to. */
    static void prompt() throws Exception {
        try (LlmDataDist prompt = new LlmDataDist(PROMPT, LlmRole.PROMPT)) {
            prompt.initialize(options().listen("127.0.0.1", 0).build()).orThrow();
            Cache request = prompt.allocateCache(WHOLE, List.of(REQUEST)).orThrow();
            Cache paged = prompt.allocateBlocksCache(PAGED).orThrow();
            fill(request);
            fill(paged);
            int port = prompt.listenAddress().orElseThrow().port();
            System.out.println(port + " " + paged.cacheId());

            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                CacheIndex destination = new CacheIndex(DECODER, Long.parseLong(line));
                prompt.transferCacheAsync(
                                request,
                                layer -> true, // here it would wait until the model has computed it
                                List.of(
                                        new LayerPushConfig.ToCache(
                                                destination, LayerRange.ALL, LayerRange.ALL, 0)),
                                LayerBlocks.NONE)
                        .orThrow()
                        .synchronize(LIMIT)
                        .orThrow();
                System.out.println("pushed");
            }
        }
    }

    /** The decode side. */
    static void decoder() throws Exception {
        Process process = startPrompt();
        try (LlmDataDist decoder = new LlmDataDist(DECODER, LlmRole.DECODER);
                BufferedReader answers = process.inputReader();
                PrintWriter requests = new PrintWriter(process.outputWriter(), true)) {
            String[] ready = answers.readLine().split(" ");
            int port = Integer.parseInt(ready[0]);
            long pagedThere = Long.parseLong(ready[1]);

            decoder.initialize(options().build()).orThrow();
            decoder.linkClusters(List.of(ClusterInfo.of(PROMPT, "127.0.0.1", port)), LIMIT)
                    .overall()
                    .orThrow();
            Cache whole = decoder.allocateCache(WHOLE).orThrow();
            Cache paged = decoder.allocateBlocksCache(PAGED).orThrow();

            long start = System.nanoTime();
            decoder.pullCache(REQUEST, whole, 0, TransferOptions.DEFAULT).orThrow();
            report("pulled by key", start);
            check(whole, blocks(false), blocks(false));

            start = System.nanoTime();
            decoder.pullBlocks(
                            new CacheIndex(PROMPT, pagedThere), paged, blocks(false), blocks(true))
                    .orThrow();
            report("pulled by blocks", start);
            check(paged, blocks(false), blocks(true));

            whole.tensors().forEach(tensor -> tensor.fill((byte) 0));
            start = System.nanoTime();
            requests.println(whole.cacheId());
            answers.readLine();
            report("pushed by layers", start);
            check(whole, blocks(false), blocks(false));

            decoder.unlinkClusters(List.of(ClusterInfo.of(PROMPT))).overall().orThrow();
            System.out.println("every byte arrived");
        } finally {
            process.waitFor(); // its input has ended, and so does it
        }
    }

    static DataDistOptions.Builder options() throws Exception {
        return DataDistOptions.builder()
                .dataHost("127.0.0.1")
                .devicePool(PoolConfig.ofBytes(512L << 20).orThrow())
                .syncTimeout(LIMIT);
    }

    /** This program in another process. */
    static Process startPrompt() throws Exception {
        Path source =
                Path.of(
                        PullKvCache.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        source.toString(),
                        "prompt")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** All blocks, or all of them from the last to the first. */
    static long[] blocks(boolean reversed) {
        long[] blocks = new long[BLOCKS];
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i] = reversed ? BLOCKS - 1 - i : i;
        }
        return blocks;
    }

    static void report(String what, long startNanos) {
        long nanos = System.nanoTime() - startNanos;
        long bytes = 2L * LAYERS * TOKENS * KV_HEADS * HEAD_DIM * 2;
        System.out.printf(
                "%-17s %4d MiB  %8.2f ms  %6.2f GB/s%n",
                what, bytes >> 20, nanos / 1e6, (double) bytes / nanos);
    }

    static long word(int tensor, long index) {
        return (long) tensor << 40 ^ index;
    }

    static void fill(Cache cache) {
        for (int t = 0; t < cache.tensors().size(); t++) {
            MemorySegment tensor = cache.tensors().get(t);
            for (long i = 0; i < tensor.byteSize() / 8; i++) {
                tensor.setAtIndex(ValueLayout.JAVA_LONG, i, word(t, i));
            }
        }
    }

    /** Block {@code there[i]} of the source has to be in block {@code here[i]}. */
    static void check(Cache cache, long[] there, long[] here) {
        for (int t = 0; t < cache.tensors().size(); t++) {
            MemorySegment tensor = cache.tensors().get(t);
            long words = tensor.byteSize() / 8 / BLOCKS;
            for (int b = 0; b < BLOCKS; b++) {
                for (long i = 0; i < words; i++) {
                    long found = tensor.getAtIndex(ValueLayout.JAVA_LONG, here[b] * words + i);
                    if (found != word(t, there[b] * words + i)) {
                        throw new IllegalStateException("tensor " + t + " block " + b + " is wrong");
                    }
                }
            }
        }
    }
}
