package io.cassia.lab.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.link.LlmRole;
import io.cassia.status.LlmStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Two prompts and four decoders, each linked with all of the other kind, that pull and push at
 * random while links are cut, processes are killed and stopped, and roles switch. Guarded.
 *
 * <p>Each prompt has the same caches in each of its lives, so that whoever reads from it knows what
 * must be read. Prompt 1 also offers caches by key, each of which may be pulled once.
 */
final class Storm implements AutoCloseable {
    private static final int SOURCES = 3;
    private static final int BATCHES = 4;
    private static final int TENSORS = 4;
    private static final int STRIDE = 100_000;
    private static final String SHAPE = "%d %d %d".formatted(TENSORS, BATCHES, STRIDE);
    private static final int MILLIS = 2000;

    /** What may come of a call while everything breaks; never an argument, never a defect. */
    private static final Set<LlmStatus> EXPECTED =
            EnumSet.of(
                    LlmStatus.LLM_FAILED,
                    LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                    LlmStatus.LLM_TIMEOUT,
                    LlmStatus.LLM_KV_CACHE_NOT_EXIST,
                    LlmStatus.LLM_NOT_YET_LINK,
                    LlmStatus.LLM_ALREADY_LINK,
                    LlmStatus.LLM_LINK_FAILED,
                    LlmStatus.LLM_UNLINK_FAILED,
                    LlmStatus.LLM_NOTIFY_PROMPT_UNLINK_FAILED,
                    LlmStatus.LLM_PROCESSING_LINK,
                    LlmStatus.LLM_EXIST_LINK,
                    LlmStatus.LLM_LINK_BUSY);

    private final long seed;
    private final List<Node> prompts = new ArrayList<>();
    private final List<Node> decoders = new ArrayList<>();
    private final Map<String, String> sums = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Long> keys = new ConcurrentLinkedQueue<>();
    private final Map<Long, AtomicInteger> keyPulls = new ConcurrentHashMap<>();
    private final AtomicLong lastKey = new AtomicLong();
    private final Map<String, AtomicLong> outcomes = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private volatile long endNanos;

    Storm(long seed) throws IOException {
        this.seed = seed;
        prompts.add(Node.here(1, LlmRole.PROMPT));
        prompts.add(Node.elsewhere(2, LlmRole.PROMPT));
        decoders.add(Node.here(11, LlmRole.DECODER));
        decoders.add(Node.here(12, LlmRole.DECODER));
        decoders.add(Node.elsewhere(13, LlmRole.DECODER));
        decoders.add(Node.elsewhere(14, LlmRole.DECODER));
        prompts.forEach(Storm::begin);
        decoders.forEach(Storm::begin);
        decoders.forEach(decoder -> prompts.forEach(prompt -> link(decoder, prompt)));
    }

    // ---- What a life begins with ----

    /** Prompts: caches 1 to 3, filled. Decoders: 1 for pulls, 2 and 3 for pushes of the prompts. */
    private static void begin(Node node) {
        for (int i = 1; i <= SOURCES; i++) {
            String made = node.ask("allocate " + SHAPE);
            if (!made.equals("SUCCESS cache " + i) && !made.startsWith("GONE")) {
                throw new AssertionError(node.id + ": " + made);
            }
            if (node.home == LlmRole.PROMPT) {
                var _ = node.ask("fill %d %d".formatted(i, contentOf(node, i)));
            }
        }
    }

    private static int contentOf(Node prompt, int cache) {
        return (int) (prompt.id * 100 + cache);
    }

    /** Checksum of a batch of what was filled with a seed, in the words of {@code sum}. */
    private String sumOf(int content, int batches, int batch) {
        return sums.computeIfAbsent(
                content + "/" + batches + "/" + batch,
                key -> {
                    try (Arena arena = Arena.ofConfined()) {
                        List<MemorySegment> tensors = new ArrayList<>();
                        for (int t = 0; t < TENSORS; t++) {
                            tensors.add(arena.allocate((long) batches * STRIDE));
                        }
                        Cache cache =
                                new Cache(
                                        1,
                                        CacheDesc.device(TENSORS, DataType.INT8, batches, STRIDE),
                                        tensors);
                        Contents.fill(cache, content);
                        return "SUCCESS " + Contents.sum(cache, batch);
                    }
                });
    }

    // ---- Running ----

    /** Runs for a time and ends quietly; what went wrong is thrown. */
    void run(Duration duration) throws InterruptedException {
        endNanos = System.nanoTime() + duration.toNanos();
        List<Thread> threads = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(seed);
        for (Node decoder : decoders) {
            threads.add(start("decoder " + decoder.id, random.split(), r -> decode(decoder, r)));
        }
        for (Node prompt : prompts) {
            threads.add(start("prompt " + prompt.id, random.split(), r -> prefill(prompt, r)));
        }
        threads.add(start("offers", random.split(), r -> offer(prompts.getFirst())));
        threads.add(start("killer", random.split(), this::kill));
        for (Thread thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            AssertionError all = new AssertionError("outcomes so far: " + outcomes());
            failures.forEach(all::addSuppressed);
            throw all;
        }
    }

    private Thread start(String name, SplittableRandom random, Consumer<SplittableRandom> step) {
        return Thread.ofPlatform()
                .name("storm " + name)
                .start(
                        () -> {
                            try {
                                while (System.nanoTime() - endNanos < 0 && failures.isEmpty()) {
                                    step.accept(random);
                                }
                            } catch (RuntimeException | AssertionError e) {
                                failures.add(e);
                            }
                        });
    }

    Map<String, AtomicLong> outcomes() {
        return new TreeMap<>(outcomes);
    }

    long count(String what) {
        AtomicLong count = outcomes.get(what);
        return count == null ? 0 : count.get();
    }

    /** Counts an answer, and refuses one that nothing here explains. */
    private String tell(Node node, String line) {
        String answer = node.ask(line);
        String code = answer.split(" ", 2)[0];
        String verb = line.split(" ", 2)[0];
        outcomes.computeIfAbsent(verb + " " + code, key -> new AtomicLong()).incrementAndGet();
        boolean known =
                code.equals("SUCCESS")
                        || code.equals("GONE")
                        || EXPECTED.stream().anyMatch(status -> status.name().equals(code));
        assertThat(known).as("cluster %d, %s: %s", node.id, line, answer).isTrue();
        return answer;
    }

    private static boolean isOk(String answer) {
        return answer.startsWith("SUCCESS");
    }

    private <T> T any(List<T> list, SplittableRandom random) {
        return list.get(random.nextInt(list.size()));
    }

    // ---- Decoders ----

    private void decode(Node decoder, SplittableRandom random) {
        Node prompt = any(prompts, random);
        int what = random.nextInt(100);
        if (what < 55) {
            pull(decoder, prompt, random);
        } else if (what < 75) {
            pullByKey(decoder);
        } else if (what < 85) {
            String how = random.nextBoolean() ? "polite" : "force";
            var _ = tell(decoder, "unlink %d %s %d".formatted(prompt.id, how, MILLIS));
            link(decoder, prompt);
        } else if (what < 95) {
            var _ = tell(decoder, "check %d %d".formatted(prompt.id, MILLIS));
        } else {
            switchRole(decoder);
        }
    }

    private void pull(Node decoder, Node prompt, SplittableRandom random) {
        int cache = random.nextInt(1, SOURCES + 1);
        int from = random.nextInt(BATCHES);
        int into = random.nextInt(BATCHES);
        int life = decoder.life();
        String answer =
                tell(
                        decoder,
                        "pull %d %d %d 1 %d %d".formatted(prompt.id, cache, from, into, MILLIS));
        if (isOk(answer)) {
            verify(decoder, life, 1, into, sumOf(contentOf(prompt, cache), BATCHES, from));
        } else if (answer.startsWith("LLM_NOT_YET_LINK")) {
            link(decoder, prompt);
        }
    }

    private void pullByKey(Node decoder) {
        Long key = keys.poll();
        if (key == null) {
            return;
        }
        int life = decoder.life();
        String answer = tell(decoder, "pull 1 key:%d 0 1 0 %d".formatted(key, MILLIS));
        if (isOk(answer)) {
            int pulls = keyPulls.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet();
            assertThat(pulls).as("pulls of key " + key).isEqualTo(1);
            verify(decoder, life, 1, 0, sumOf(key.intValue() + 10_000, 1, 0));
            assertThat(tell(decoder, "pull 1 key:%d 0 1 0 %d".formatted(key, MILLIS)))
                    .as("a second pull of key " + key)
                    .doesNotStartWith("SUCCESS");
        } else if (!answer.startsWith("LLM_KV_CACHE_NOT_EXIST")) {
            keys.add(key);
        }
    }

    /** What has arrived, unless the process has lost it with its life. */
    private void verify(Node node, int life, int cache, int batch, String expected) {
        String found = node.ask("sum %d %d".formatted(cache, batch));
        if (node.life() == life && !found.startsWith("GONE")) {
            assertThat(found)
                    .as("cluster %d, cache %d, batch %d", node.id, cache, batch)
                    .isEqualTo(expected);
            outcomes.computeIfAbsent("verified", key -> new AtomicLong()).incrementAndGet();
        }
    }

    private void link(Node decoder, Node prompt) {
        String line = "link %d 127.0.0.1 %d %d".formatted(prompt.id, prompt.port, MILLIS);
        if (tell(decoder, line).startsWith("LLM_ALREADY_LINK")) {
            // Broken, or alive: a link that is broken has to be given up first.
            if (!isOk(tell(decoder, "check %d %d".formatted(prompt.id, MILLIS)))) {
                var _ = tell(decoder, "unlink %d force %d".formatted(prompt.id, MILLIS));
                var _ = tell(decoder, line);
            }
        }
    }

    private void switchRole(Node decoder) {
        for (Node prompt : prompts) {
            var _ = tell(decoder, "unlink %d force %d".formatted(prompt.id, MILLIS));
        }
        if (isOk(tell(decoder, "role MIX"))) {
            assertThat(tell(decoder, "role DECODER")).matches("(SUCCESS|GONE).*");
        }
        prompts.forEach(prompt -> link(decoder, prompt));
    }

    // ---- Prompts ----

    private void prefill(Node prompt, SplittableRandom random) {
        if (random.nextInt(100) < 2) {
            becomeDecoderAndBack(prompt);
            return;
        }
        Node decoder = any(decoders, random);
        int cache = random.nextInt(1, SOURCES + 1);
        int from = random.nextInt(BATCHES);
        int into = random.nextInt(BATCHES);
        // Cache 2 is for prompt 1, cache 3 for prompt 2: nobody else writes there.
        long target = prompt.id + 1;
        int life = decoder.life();
        String answer =
                tell(
                        prompt,
                        "push %d %d %d %d %d %d"
                                .formatted(cache, from, decoder.id, target, into, MILLIS));
        if (isOk(answer)) {
            verify(
                    decoder,
                    life,
                    (int) target,
                    into,
                    sumOf(contentOf(prompt, cache), BATCHES, from));
        } else {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private void becomeDecoderAndBack(Node prompt) {
        for (Node decoder : decoders) {
            var _ = tell(prompt, "unlink %d force %d".formatted(decoder.id, MILLIS));
        }
        if (isOk(tell(prompt, "role DECODER"))) {
            int life = prompt.life();
            boolean back =
                    Patience.until(
                            () ->
                                    isOk(tell(prompt, "role PROMPT " + prompt.port))
                                            || prompt.life() != life);
            assertThat(back).as("cluster %d listens again", prompt.id).isTrue();
        }
    }

    /** One cache under one key, filled before anybody hears of the key. */
    private void offer(Node prompt) {
        if (keys.size() > 8) {
            LockSupport.parkNanos(2_000_000);
            return;
        }
        long key = lastKey.incrementAndGet();
        String made = prompt.ask("allocate %d 1 %d %d".formatted(TENSORS, STRIDE, key));
        if (!isOk(made)) {
            // Its role may be another one at this moment, its pool full of keys not pulled yet.
            assertThat(made).matches("(LLM_PARAM_INVALID|LLM_DEVICE_OUT_OF_MEMORY) .*");
            LockSupport.parkNanos(2_000_000);
            return;
        }
        String cache = made.substring("SUCCESS cache ".length());
        assertThat(prompt.ask("fill %s %d".formatted(cache, key + 10_000))).isEqualTo("SUCCESS");
        // Its memory stays as long as the key does.
        assertThat(prompt.ask("deallocate " + cache)).startsWith("SUCCESS");
        keys.add(key);
    }

    // ---- Fate ----

    private void kill(SplittableRandom random) {
        LockSupport.parkNanos(Duration.ofMillis(random.nextInt(300, 1500)).toNanos());
        List<Node.Remote> victims = remotes();
        Node.Remote victim = any(victims, random);
        try {
            if (random.nextInt(3) == 0) {
                ClusterProcess process = victim.process();
                process.stop();
                LockSupport.parkNanos(Duration.ofMillis(random.nextInt(50, 2600)).toNanos());
                process.resume();
                outcomes.computeIfAbsent("stopped", key -> new AtomicLong()).incrementAndGet();
            } else {
                victim.killAndRestart(Storm::begin);
                outcomes.computeIfAbsent("killed", key -> new AtomicLong()).incrementAndGet();
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private List<Node.Remote> remotes() {
        List<Node.Remote> all = new ArrayList<>();
        for (List<Node> nodes : List.of(prompts, decoders)) {
            for (Node node : nodes) {
                if (node instanceof Node.Remote remote) {
                    all.add(remote);
                }
            }
        }
        return all;
    }

    // ---- The end ----

    /** Everything is given back, and then everybody has to be as empty as in the beginning. */
    void settle() {
        for (Node decoder : decoders) {
            for (Node prompt : prompts) {
                var _ = tell(decoder, "unlink %d force %d".formatted(prompt.id, MILLIS));
                var _ = tell(prompt, "unlink %d force %d".formatted(decoder.id, MILLIS));
            }
        }
        for (long key = 1; key <= lastKey.get(); key++) {
            var _ = prompts.getFirst().ask("remove " + key);
        }
        for (List<Node> nodes : List.of(prompts, decoders)) {
            for (Node node : nodes) {
                for (int i = 1; i <= SOURCES; i++) {
                    assertThat(node.ask("deallocate " + i)).startsWith("SUCCESS");
                }
                assertThat(Patience.until(() -> isEmpty(node)))
                        .as(
                                "cluster %d: %s, %s, %s",
                                node.id, node.ask("caches"), node.ask("links"), node.ask("pool"))
                        .isTrue();
            }
        }
    }

    private static boolean isEmpty(Node node) {
        return node.ask("caches").equals("SUCCESS []")
                && node.ask("keys").equals("SUCCESS []")
                && node.ask("links").equals("SUCCESS []")
                && node.ask("pool").equals("SUCCESS 0");
    }

    @Override
    public void close() {
        decoders.forEach(Node::close);
        prompts.forEach(Node::close);
    }
}
