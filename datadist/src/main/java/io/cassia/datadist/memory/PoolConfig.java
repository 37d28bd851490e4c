package io.cassia.datadist.memory;

import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.List;

/**
 * How large a pool is and how it is cut. Immutable; made by {@link #ofBytes}, {@link #paged} or
 * {@link #classes}, which check the rules.
 *
 * @param totalBytes memory of the pool; 0 turns allocation from it off
 * @param unitBytes grants outside of the size classes are multiples of this
 * @param classes size classes, smallest grants first; they are part of {@code totalBytes}
 */
public record PoolConfig(long totalBytes, long unitBytes, List<SizeClass> classes) {
    /** Alignment of every tensor in bytes. */
    public static final long ALIGNMENT = 512;

    /** Pages of a paged pool where no shift is given: 64 KiB. */
    public static final int DEFAULT_PAGE_SHIFT = 16;

    /** Nothing can be allocated: {@code LLM_FEATURE_NOT_ENABLED}. */
    public static final PoolConfig OFF = new PoolConfig(0, ALIGNMENT, List.of());

    private static final long CLASS_MULTIPLE = 2L << 20;
    private static final long CLASS_LIMIT = 0xFFFF_FFFFL;

    public PoolConfig {
        classes = List.copyOf(classes);
        if (totalBytes < 0 || unitBytes < 1) {
            throw new IllegalArgumentException(
                    "pool of " + totalBytes + " bytes, unit " + unitBytes);
        }
    }

    public boolean isOff() {
        return totalBytes == 0;
    }

    /** One range, cut by best fit; {@code LLM_PARAM_INVALID} below 1 byte. */
    public static Outcome<PoolConfig> ofBytes(long bytes) {
        return bytes < 1
                ? invalid("buf_pool_size " + bytes + " is not above 0")
                : Outcome.ok(new PoolConfig(bytes, ALIGNMENT, List.of()));
    }

    /**
     * Pages of {@code 2^pageShift} bytes; {@code LLM_PARAM_INVALID} when the shift is not in 10..30
     * or a page exceeds the pool.
     */
    public static Outcome<PoolConfig> paged(long bytes, int pageShift) {
        if (pageShift < 10 || pageShift > 30) {
            return invalid("page_shift " + pageShift + " is not in 10..30");
        }
        if (bytes < 1L << pageShift) {
            return invalid(
                    "memory_size %d is smaller than a page of %d bytes"
                            .formatted(bytes, 1L << pageShift));
        }
        return Outcome.ok(new PoolConfig(bytes, 1L << pageShift, List.of()));
    }

    /**
     * Size classes, and what {@code poolBytes} has beyond them for everything else; 0 for nothing
     * beyond. {@code LLM_PARAM_INVALID} naming the class and the rule that it breaks.
     */
    public static Outcome<PoolConfig> classes(long poolBytes, List<SizeClass> classes) {
        long sum = 0;
        long largest = 0;
        for (int i = 0; i < classes.size(); i++) {
            SizeClass c = classes.get(i);
            String broken = brokenRule(c, largest);
            if (!broken.isEmpty()) {
                return invalid("buf_cfg[" + i + "]: " + broken);
            }
            largest = c.maxGrantBytes();
            sum += c.totalBytes();
        }
        if (poolBytes != 0 && poolBytes < sum) {
            return invalid(
                    "buf_pool_size %d is smaller than the %d bytes of buf_cfg"
                            .formatted(poolBytes, sum));
        }
        return Outcome.ok(new PoolConfig(Math.max(poolBytes, sum), ALIGNMENT, classes));
    }

    private static String brokenRule(SizeClass c, long largestBefore) {
        if (c.totalBytes() < 1 || c.totalBytes() > CLASS_LIMIT) {
            return "total_size " + c.totalBytes() + " is not in 1..4294967295";
        }
        if (c.blockBytes() < 1
                || c.blockBytes() > CLASS_MULTIPLE
                || Long.bitCount(c.blockBytes()) != 1) {
            return "blk_size " + c.blockBytes() + " is not a power of two up to 2097152";
        }
        if (c.totalBytes() % CLASS_MULTIPLE != 0 || c.totalBytes() % c.blockBytes() != 0) {
            return "total_size " + c.totalBytes() + " is not a multiple of 2 MiB and of blk_size";
        }
        if (c.maxGrantBytes() < c.blockBytes() || c.maxGrantBytes() >= c.totalBytes()) {
            return "max_buf_size %d is not in blk_size..total_size-1 (%d..%d)"
                    .formatted(c.maxGrantBytes(), c.blockBytes(), c.totalBytes() - 1);
        }
        return c.maxGrantBytes() <= largestBefore
                ? "max_buf_size %d does not exceed that of the class before, %d"
                        .formatted(c.maxGrantBytes(), largestBefore)
                : "";
    }

    private static Outcome<PoolConfig> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
