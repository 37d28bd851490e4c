package io.cassia.master.core;

import java.util.Arrays;

/**
 * Confined to the master's lock. The blocks of one {@link OffsetAllocator} as records of six longs
 * in pages, addressed by a positive {@code int}; 0 is no block. Records do not move, so growing
 * copies nothing, and a block costs 48 bytes and no object.
 *
 * <pre>
 *  0  offset                     first byte
 *  1  size                       bytes
 *  2  before : after             neighbours in address order
 *  3  same-size previous : next  ring of free blocks of one size; used blocks: 0 : owner
 *  4  child 0 : child 1          free blocks in the trie of their bin
 *  5  parent : state             state is odd while used and grows with each change of use
 * </pre>
 */
final class BlockTable {
    static final int NONE = 0;

    private static final int STRIDE = 6;
    private static final int PAGE_BITS = 8;
    private static final int PAGE_MASK = (1 << PAGE_BITS) - 1;
    private static final long LOW = 0xFFFF_FFFFL;

    private long[][] pages = new long[4][];
    private int highest;
    private int recycled;

    /** A block with all fields 0 but its state, which goes on from the last life of the number. */
    int create() {
        if (recycled != NONE) {
            int block = recycled;
            recycled = after(block);
            int at = at(block);
            long[] page = page(block);
            long state = page[at + 5] & LOW;
            Arrays.fill(page, at, at + STRIDE, 0);
            page[at + 5] = state;
            return block;
        }
        int block = ++highest;
        int page = block >>> PAGE_BITS;
        if (page == pages.length) {
            pages = Arrays.copyOf(pages, pages.length * 2);
        }
        if (pages[page] == null) {
            pages[page] = new long[STRIDE << PAGE_BITS];
        }
        return block;
    }

    void recycle(int block) {
        setNeighbours(block, NONE, recycled);
        recycled = block;
    }

    long offset(int block) {
        return page(block)[at(block)];
    }

    long size(int block) {
        return page(block)[at(block) + 1];
    }

    void setSpan(int block, long offset, long size) {
        long[] page = page(block);
        int at = at(block);
        page[at] = offset;
        page[at + 1] = size;
    }

    int before(int block) {
        return high(block, 2);
    }

    int after(int block) {
        return low(block, 2);
    }

    void setNeighbours(int block, int before, int after) {
        setPair(block, 2, before, after);
    }

    void setBefore(int block, int before) {
        setPair(block, 2, before, after(block));
    }

    void setAfter(int block, int after) {
        setPair(block, 2, before(block), after);
    }

    int samePrevious(int block) {
        return high(block, 3);
    }

    int sameNext(int block) {
        return low(block, 3);
    }

    void setSame(int block, int previous, int next) {
        setPair(block, 3, previous, next);
    }

    int owner(int block) {
        return low(block, 3);
    }

    void setOwner(int block, int owner) {
        setPair(block, 3, 0, owner);
    }

    int child(int block, int side) {
        return side == 0 ? high(block, 4) : low(block, 4);
    }

    void setChild(int block, int side, int child) {
        if (side == 0) {
            setPair(block, 4, child, low(block, 4));
        } else {
            setPair(block, 4, high(block, 4), child);
        }
    }

    void setChildren(int block, int zero, int one) {
        setPair(block, 4, zero, one);
    }

    int parent(int block) {
        return high(block, 5);
    }

    void setParent(int block, int parent) {
        setPair(block, 5, parent, state(block));
    }

    int state(int block) {
        return low(block, 5);
    }

    void nextState(int block) {
        setPair(block, 5, parent(block), state(block) + 1);
    }

    boolean isUsed(int block) {
        return (state(block) & 1) == 1;
    }

    boolean exists(int block) {
        return block > 0 && block <= highest;
    }

    private long[] page(int block) {
        return pages[block >>> PAGE_BITS];
    }

    private static int at(int block) {
        return (block & PAGE_MASK) * STRIDE;
    }

    private int high(int block, int field) {
        return (int) (page(block)[at(block) + field] >>> 32);
    }

    private int low(int block, int field) {
        return (int) page(block)[at(block) + field];
    }

    private void setPair(int block, int field, int high, int low) {
        page(block)[at(block) + field] = ((long) high << 32) | (low & LOW);
    }
}
