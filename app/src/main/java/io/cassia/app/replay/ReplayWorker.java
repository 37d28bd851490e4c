package io.cassia.app.replay;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs requests over one connection: read the leading stored blocks, compare every byte, store the
 * others. Confined to its thread.
 *
 * <p>Buffers and lists are made once; a request allocates only its keys.
 */
final class ReplayWorker {
    /** Blocks of a request go in windows of at most this many bytes. */
    private static final long WINDOW_BYTES = 64L << 20;

    private static final long RETRY_NANOS = 50_000_000;
    private static final long GIVE_UP_NANOS = 10_000_000_000L;
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final int ID_DIGITS = 16;

    private final Trace trace;
    private final ReplayOptions options;
    private final BlockStore store;
    private final Clock clock;
    private final Pause pause;
    private final byte[] keyTemplate;
    private final List<MemorySegment> buffers = new ArrayList<>();
    private final List<ByteString> keys = new ArrayList<>();
    private final List<ByteString> missingKeys = new ArrayList<>();
    private final List<MemorySegment> missingBuffers = new ArrayList<>();
    private final Tally tally = new Tally();
    private long unreachableSinceNanos;
    private boolean unreachable;

    ReplayWorker(
            Trace trace,
            ReplayOptions options,
            BlockStore store,
            Clock clock,
            Pause pause,
            Arena arena) {
        this.trace = trace;
        this.options = options;
        this.store = store;
        this.clock = clock;
        this.pause = pause;
        this.keyTemplate = keyTemplate(options);
        long blockBytes = options.blockBytes();
        int window = Math.clamp(WINDOW_BYTES / blockBytes, 1, Math.max(1, trace.longestRequest()));
        MemorySegment memory = arena.allocate(window * blockBytes, 64);
        for (int i = 0; i < window; i++) {
            buffers.add(memory.asSlice(i * blockBytes, blockBytes));
        }
    }

    Tally tally() {
        return tally;
    }

    /**
     * Runs one request. A failure of single blocks is counted and goes on; false means that the
     * store has not answered for a long time and that going on makes no sense.
     */
    boolean run(int request) {
        int from = trace.start(request);
        int end = trace.end(request);
        boolean prefixHolds = true;
        boolean answered = from == end;
        while (from < end) {
            int count = Math.min(buffers.size(), end - from);
            nameKeys(from, count);
            List<Outcome<Long>> read = prefixHolds ? readPrefix(count) : List.of();
            int hits = checkAndChooseMissing(read, from, count);
            tally.hits += hits;
            prefixHolds &= hits == count;
            boolean stored = storeMissing();
            answered |= stored || isAnswer(read);
            from += count;
        }
        tally.requests++;
        tally.blocks += end - trace.start(request);
        return answered ? reachable() : waitOrGiveUp();
    }

    private void nameKeys(int from, int count) {
        keys.clear();
        for (int i = 0; i < count; i++) {
            byte[] key = keyTemplate.clone();
            long id = trace.id(from + i);
            for (int digit = 0; digit < ID_DIGITS; digit++) {
                key[key.length - 1 - digit] = HEX[(int) (id >>> (4 * digit)) & 15];
            }
            keys.add(ByteString.wrap(key));
        }
    }

    private List<Outcome<Long>> readPrefix(int count) {
        long start = clock.nanos();
        List<Outcome<Long>> read = store.getPrefix(keys, buffers.subList(0, count));
        tally.got(clock.nanos() - start);
        if (read.size() > count) {
            throw new IllegalStateException(read.size() + " results for " + count + " keys");
        }
        return read;
    }

    /** Compares what was read, fills the buffers of what must be stored; answers the hits. */
    private int checkAndChooseMissing(List<Outcome<Long>> read, int from, int count) {
        missingKeys.clear();
        missingBuffers.clear();
        int hits = 0;
        for (int i = 0; i < count; i++) {
            MemorySegment buffer = buffers.get(i);
            long base = BlockContent.base(options.seed(), trace.id(from + i));
            boolean stored =
                    i < read.size()
                            && switch (read.get(i)) {
                                case Outcome.Ok<Long>(Long bytes) -> {
                                    if (isRight(i, bytes, base) && hits == i) {
                                        hits++;
                                    }
                                    yield true;
                                }
                                case Outcome.Failed<Long> failure -> {
                                    tally.failed(failure);
                                    yield false;
                                }
                            };
            if (!stored) {
                BlockContent.fill(buffer, base);
                missingKeys.add(keys.get(i));
                missingBuffers.add(buffer);
            }
        }
        return hits;
    }

    private boolean isRight(int index, long bytes, long base) {
        MemorySegment buffer = buffers.get(index);
        if (bytes != buffer.byteSize()) {
            tally.wrong(
                    "key %s: %d bytes, expected %d"
                            .formatted(keys.get(index), bytes, buffer.byteSize()));
            return false;
        }
        tally.bytesRead += bytes;
        long offset = BlockContent.mismatch(buffer, base);
        if (offset < 0) {
            return true;
        }
        tally.wrong(
                "key %s: byte %d is 0x%02x, expected 0x%02x"
                        .formatted(
                                keys.get(index),
                                offset,
                                buffer.get(ValueLayout.JAVA_BYTE, offset),
                                BlockContent.expected(base, offset)));
        return false;
    }

    /** Whether there was something to store and the store answered. */
    private boolean storeMissing() {
        if (missingKeys.isEmpty()) {
            return false;
        }
        long start = clock.nanos();
        List<Outcome<Done>> stored = store.putBatch(missingKeys, missingBuffers);
        tally.put(clock.nanos() - start);
        if (stored.size() != missingKeys.size()) {
            throw new IllegalStateException(
                    stored.size() + " results for " + missingKeys.size() + " keys");
        }
        for (Outcome<Done> outcome : stored) {
            switch (outcome) {
                case Outcome.Ok<Done> ok -> tally.bytesWritten += options.blockBytes();
                case Outcome.Failed<Done> failure -> {
                    if (failure.code() == StoreCode.OBJECT_ALREADY_EXISTS) {
                        tally.alreadyStored++;
                    } else {
                        tally.failed(failure);
                    }
                }
            }
        }
        return isAnswer(stored);
    }

    private static <T> boolean isAnswer(List<Outcome<T>> outcomes) {
        for (Outcome<T> outcome : outcomes) {
            if (!(outcome instanceof Outcome.Failed<T>(Code code, String detail)
                    && (code == StoreCode.RPC_FAIL || code == StoreCode.RPC_TIMEOUT))) {
                return true;
            }
        }
        return false;
    }

    private boolean reachable() {
        unreachable = false;
        return true;
    }

    private boolean waitOrGiveUp() {
        long now = clock.nanos();
        if (!unreachable) {
            unreachable = true;
            unreachableSinceNanos = now;
        }
        if (now - unreachableSinceNanos >= GIVE_UP_NANOS) {
            return false;
        }
        pause.nanos(RETRY_NANOS);
        return true;
    }

    /** Block size and seed are part of the key: other runs' blocks have other contents. */
    private static byte[] keyTemplate(ReplayOptions options) {
        String prefix = "replay-%d-%x/".formatted(options.blockBytes(), options.seed());
        return (prefix + "0".repeat(ID_DIGITS)).getBytes(StandardCharsets.US_ASCII);
    }
}
