package io.cassia.master.core;

/**
 * Confined to the master's lock. The free blocks of one {@link OffsetAllocator}, found by size:
 * exact best fit and the largest block in at most as many steps as a size has bits.
 *
 * <p>Two levels: a word of bits says which powers of two have blocks (bin {@code b} holds sizes
 * from 2^b to 2^(b+1)-1); the blocks of a bin form a binary trie over the bits below the top one.
 * Each trie member heads a ring of the blocks of exactly its size, so that a pool of equal blocks
 * is one member with one long ring and costs one step.
 */
final class FreeBlocks {
    private static final int NONE = BlockTable.NONE;

    /** Parent of a trie's root; a ring member that is not in the trie has parent {@link #NONE}. */
    private static final int ROOT = -1;

    private final BlockTable blocks;
    private final int[] roots = new int[Long.SIZE - 1];
    private long occupied;

    FreeBlocks(BlockTable blocks) {
        this.blocks = blocks;
    }

    void insert(int block) {
        long size = blocks.size(block);
        int bin = bin(size);
        blocks.setChildren(block, NONE, NONE);
        blocks.setSame(block, block, block);
        int at = roots[bin];
        if (at == NONE) {
            roots[bin] = block;
            occupied |= 1L << bin;
            blocks.setParent(block, ROOT);
            return;
        }
        long path = path(size, bin);
        while (blocks.size(at) != size) {
            int side = (int) (path >>> 63);
            path <<= 1;
            int child = blocks.child(at, side);
            if (child == NONE) {
                blocks.setChild(at, side, block);
                blocks.setParent(block, at);
                return;
            }
            at = child;
        }
        int next = blocks.sameNext(at);
        blocks.setSame(block, at, next);
        blocks.setSame(at, next == at ? block : blocks.samePrevious(at), block);
        if (next != at) {
            blocks.setSame(next, block, blocks.sameNext(next));
        }
        blocks.setParent(block, NONE);
    }

    void remove(int block) {
        int next = blocks.sameNext(block);
        int replacement;
        if (next == block) {
            replacement = detachLeaf(block);
        } else {
            leaveRing(block, next);
            if (blocks.parent(block) == NONE) {
                return;
            }
            replacement = next;
        }
        if (replacement != NONE) {
            adopt(replacement, block);
        }
        putInPlaceOf(block, replacement);
    }

    /** The smallest free block of at least {@code size} bytes; 0 when there is none. */
    int bestFit(long size) {
        int bin = bin(size);
        int best = (occupied >>> bin & 1) == 1 ? bestInBin(roots[bin], size, bin) : NONE;
        if (best == NONE) {
            long larger = occupied & (-2L << bin);
            if (larger == 0) {
                return NONE;
            }
            best = smallest(roots[Long.numberOfTrailingZeros(larger)]);
        }
        // A ring neighbour leaves without touching the trie.
        return blocks.sameNext(best);
    }

    /** Bytes of the largest free block; 0 when nothing is free. */
    long largestBytes() {
        if (occupied == 0) {
            return 0;
        }
        long largest = 0;
        int at = roots[63 - Long.numberOfLeadingZeros(occupied)];
        while (at != NONE) {
            largest = Math.max(largest, blocks.size(at));
            int one = blocks.child(at, 1);
            at = one != NONE ? one : blocks.child(at, 0);
        }
        return largest;
    }

    /**
     * Walks the path of {@code size}; everything right of the path is larger, and of those subtrees
     * the deepest holds the smallest sizes.
     */
    private int bestInBin(int root, long size, int bin) {
        int best = NONE;
        long bestRest = Long.MAX_VALUE;
        int larger = NONE;
        long path = path(size, bin);
        int at = root;
        while (at != NONE) {
            long rest = blocks.size(at) - size;
            if (rest >= 0 && rest < bestRest) {
                best = at;
                bestRest = rest;
                if (rest == 0) {
                    return best;
                }
            }
            int side = (int) (path >>> 63);
            path <<= 1;
            if (side == 0 && blocks.child(at, 1) != NONE) {
                larger = blocks.child(at, 1);
            }
            at = blocks.child(at, side);
        }
        if (larger != NONE) {
            int candidate = smallest(larger);
            if (blocks.size(candidate) - size < bestRest) {
                best = candidate;
            }
        }
        return best;
    }

    private int smallest(int root) {
        int best = root;
        int at = root;
        while (at != NONE) {
            if (blocks.size(at) < blocks.size(best)) {
                best = at;
            }
            int zero = blocks.child(at, 0);
            at = zero != NONE ? zero : blocks.child(at, 1);
        }
        return best;
    }

    private void leaveRing(int block, int next) {
        int previous = blocks.samePrevious(block);
        if (next == previous) {
            blocks.setSame(next, next, next);
        } else {
            blocks.setSame(previous, blocks.samePrevious(previous), next);
            blocks.setSame(next, previous, blocks.sameNext(next));
        }
    }

    /** Takes a leaf out from under {@code block}, whose place any of its descendants may take. */
    private int detachLeaf(int block) {
        int parent = NONE;
        int at = block;
        while (true) {
            int one = blocks.child(at, 1);
            int child = one != NONE ? one : blocks.child(at, 0);
            if (child == NONE) {
                break;
            }
            parent = at;
            at = child;
        }
        if (at == block) {
            return NONE;
        }
        blocks.setChild(parent, blocks.child(parent, 1) == at ? 1 : 0, NONE);
        return at;
    }

    private void adopt(int heir, int block) {
        for (int side = 0; side < 2; side++) {
            int child = blocks.child(block, side);
            blocks.setChild(heir, side, child);
            if (child != NONE) {
                blocks.setParent(child, heir);
            }
        }
    }

    private void putInPlaceOf(int block, int replacement) {
        int parent = blocks.parent(block);
        if (parent == ROOT) {
            int bin = bin(blocks.size(block));
            roots[bin] = replacement;
            if (replacement == NONE) {
                occupied &= ~(1L << bin);
            }
        } else {
            blocks.setChild(parent, blocks.child(parent, 1) == block ? 1 : 0, replacement);
        }
        if (replacement != NONE) {
            blocks.setParent(replacement, parent);
        }
    }

    private static int bin(long size) {
        return 63 - Long.numberOfLeadingZeros(size);
    }

    /** The bits of a size below the bin's, from the top of the word. */
    private static long path(long size, int bin) {
        return bin == 0 ? 0 : size << (Long.SIZE - bin);
    }
}
