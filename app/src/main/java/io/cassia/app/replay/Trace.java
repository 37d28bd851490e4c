package io.cassia.app.replay;

import java.util.Arrays;

/**
 * A sequence of requests, each a list of block ids in prefix order. Immutable.
 *
 * <p>Flat arrays: a trace of millions of blocks costs eight bytes for each.
 */
public final class Trace {
    private final long[] timestampsMillis;
    private final int[] starts;
    private final long[] ids;

    private Trace(long[] timestampsMillis, int[] starts, long[] ids) {
        this.timestampsMillis = timestampsMillis;
        this.starts = starts;
        this.ids = ids;
    }

    /** Number of requests. */
    public int requests() {
        return timestampsMillis.length;
    }

    /** Number of blocks of all requests, repetitions counted. */
    public int blocks() {
        return ids.length;
    }

    /** When the request arrives, relative to the start of the trace. */
    public long timestampMillis(int request) {
        return timestampsMillis[request];
    }

    /** Index of the request's first block for {@link #id}. */
    public int start(int request) {
        return starts[request];
    }

    /** Index behind the request's last block. */
    public int end(int request) {
        return starts[request + 1];
    }

    /** The block's id: blocks with the same id have the same content. */
    public long id(int block) {
        return ids[block];
    }

    /** Blocks of the longest request. */
    public int longestRequest() {
        int longest = 0;
        for (int request = 0; request < requests(); request++) {
            longest = Math.max(longest, end(request) - start(request));
        }
        return longest;
    }

    /** Number of different blocks: what a store must hold to forget nothing. */
    public int distinctBlocks() {
        long[] sorted = ids.clone();
        Arrays.sort(sorted);
        int distinct = 0;
        for (int i = 0; i < sorted.length; i++) {
            if (i == 0 || sorted[i] != sorted[i - 1]) {
                distinct++;
            }
        }
        return distinct;
    }

    /** Collects requests in their order. Confined to its thread. */
    static final class Builder {
        /** Java arrays end here; a longer trace is to be split. */
        private static final int MAX_BLOCKS = Integer.MAX_VALUE - 8;

        private long[] timestampsMillis = new long[1024];
        private int[] starts = new int[1025];
        private long[] ids = new long[16 * 1024];
        private int requests;
        private int blocks;

        /** Adds a block to the request that {@link #endRequest} will close. */
        void addBlock(long id) {
            if (blocks == ids.length) {
                if (blocks == MAX_BLOCKS) {
                    throw new IllegalArgumentException(
                            "a trace of more than " + MAX_BLOCKS + " blocks; split it");
                }
                ids = Arrays.copyOf(ids, (int) Math.min(MAX_BLOCKS, 2L * blocks));
            }
            ids[blocks++] = id;
        }

        void endRequest(long timestampMillis) {
            if (requests == timestampsMillis.length) {
                int grown = (int) Math.min(MAX_BLOCKS - 1, 2L * requests);
                timestampsMillis = Arrays.copyOf(timestampsMillis, grown);
                starts = Arrays.copyOf(starts, grown + 1);
            }
            timestampsMillis[requests++] = timestampMillis;
            starts[requests] = blocks;
        }

        /** Drops the blocks of the open request. */
        void abandonRequest() {
            blocks = starts[requests];
        }

        int requests() {
            return requests;
        }

        Trace build() {
            return new Trace(
                    Arrays.copyOf(timestampsMillis, requests),
                    Arrays.copyOf(starts, requests + 1),
                    Arrays.copyOf(ids, blocks));
        }
    }
}
