package io.cassia.master.core;

import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Confined to the master's lock. Hands out ranges of one address range to the byte: best fit, no
 * rounding, free neighbours always joined.
 *
 * <p>An allocation is a {@code long}: the block's number and the state of the block at the time, so
 * that a handle kept beyond its {@link #free} is found out (each use of a block number has another
 * state).
 */
final class OffsetAllocator {
    /** No allocation: there is no free block that is large enough. */
    static final long NO_SPACE = 0;

    private final long capacityBytes;
    private final BlockTable blocks = new BlockTable();
    private final FreeBlocks freeBlocks = new FreeBlocks(blocks);
    private int first;
    private long usedBytes;

    /** All of {@code capacityBytes} is free; it must be positive. */
    OffsetAllocator(long capacityBytes) {
        if (capacityBytes <= 0) {
            throw new IllegalArgumentException("capacity " + capacityBytes);
        }
        this.capacityBytes = capacityBytes;
        first = blocks.create();
        blocks.setSpan(first, 0, capacityBytes);
        freeBlocks.insert(first);
    }

    /** {@link #NO_SPACE} when no free block has {@code length} bytes, which must be positive. */
    long allocate(long length, int owner) {
        if (length <= 0) {
            throw new IllegalArgumentException("length " + length);
        }
        int hole = freeBlocks.bestFit(length);
        if (hole == BlockTable.NONE) {
            return NO_SPACE;
        }
        freeBlocks.remove(hole);
        int used = blocks.size(hole) == length ? hole : splitFront(hole, length);
        blocks.nextState(used);
        blocks.setOwner(used, owner);
        usedBytes += length;
        return (long) blocks.state(used) << 32 | used;
    }

    private int splitFront(int hole, long length) {
        int front = blocks.create();
        int before = blocks.before(hole);
        blocks.setSpan(front, blocks.offset(hole), length);
        blocks.setNeighbours(front, before, hole);
        blocks.setBefore(hole, front);
        if (before == BlockTable.NONE) {
            first = front;
        } else {
            blocks.setAfter(before, front);
        }
        blocks.setSpan(hole, blocks.offset(hole) + length, blocks.size(hole) - length);
        freeBlocks.insert(hole);
        return front;
    }

    /** Gives a range back; a handle that is not of a live allocation is a bug of the caller. */
    void free(long allocation) {
        int block = require(allocation);
        usedBytes -= blocks.size(block);
        blocks.nextState(block);
        int before = blocks.before(block);
        if (before != BlockTable.NONE && !blocks.isUsed(before)) {
            freeBlocks.remove(before);
            blocks.setSpan(block, blocks.offset(before), blocks.size(before) + blocks.size(block));
            int beyond = blocks.before(before);
            blocks.setBefore(block, beyond);
            if (beyond == BlockTable.NONE) {
                first = block;
            } else {
                blocks.setAfter(beyond, block);
            }
            blocks.recycle(before);
        }
        int after = blocks.after(block);
        if (after != BlockTable.NONE && !blocks.isUsed(after)) {
            freeBlocks.remove(after);
            blocks.setSpan(block, blocks.offset(block), blocks.size(block) + blocks.size(after));
            int beyond = blocks.after(after);
            blocks.setAfter(block, beyond);
            if (beyond != BlockTable.NONE) {
                blocks.setBefore(beyond, block);
            }
            blocks.recycle(after);
        }
        freeBlocks.insert(block);
    }

    long offset(long allocation) {
        return blocks.offset(require(allocation));
    }

    long length(long allocation) {
        return blocks.size(require(allocation));
    }

    /** What the caller of {@link #allocate} gave, or the last {@link #setOwner}. */
    int owner(long allocation) {
        return blocks.owner(require(allocation));
    }

    void setOwner(long allocation, int owner) {
        blocks.setOwner(require(allocation), owner);
    }

    boolean isLive(long allocation) {
        int block = (int) allocation;
        return blocks.exists(block)
                && blocks.state(block) == (int) (allocation >>> 32)
                && blocks.isUsed(block);
    }

    /**
     * The live allocation behind {@code allocation} in address order; from 0 the first one, after
     * the last 0.
     */
    long nextAllocation(long allocation) {
        int block = allocation == NO_SPACE ? first : blocks.after(require(allocation));
        while (block != BlockTable.NONE && !blocks.isUsed(block)) {
            block = blocks.after(block);
        }
        return block == BlockTable.NONE ? NO_SPACE : (long) blocks.state(block) << 32 | block;
    }

    /**
     * The owners of the allocations that must go so that one free block of {@code length} bytes
     * comes into being around {@code allocation}; empty when something immovable is in the way or
     * the steps are used up.
     *
     * @param movable tells by owner whether an allocation may go
     * @param stepsLeft one number: blocks that may still be looked at, counted down
     */
    int[] ownersInTheWay(long allocation, long length, IntPredicate movable, int[] stepsLeft) {
        int from = require(allocation);
        int to = from;
        long span = blocks.size(from);
        boolean right = true;
        while (span < length) {
            int next = right ? blocks.after(to) : blocks.before(from);
            boolean passable =
                    next != BlockTable.NONE
                            && (!blocks.isUsed(next) || movable.test(blocks.owner(next)));
            if (--stepsLeft[0] < 0 || (!passable && !right)) {
                return new int[0];
            }
            if (!passable) {
                right = false;
                continue;
            }
            span += blocks.size(next);
            if (right) {
                to = next;
            } else {
                from = next;
            }
        }
        return owners(from, to);
    }

    private int[] owners(int from, int to) {
        IntStream.Builder owners = IntStream.builder();
        for (int block = from; ; block = blocks.after(block)) {
            if (blocks.isUsed(block)) {
                owners.add(blocks.owner(block));
            }
            if (block == to) {
                return owners.build().toArray();
            }
        }
    }

    long capacityBytes() {
        return capacityBytes;
    }

    /** Sum of the lengths of the live allocations. */
    long usedBytes() {
        return usedBytes;
    }

    long freeBytes() {
        return capacityBytes - usedBytes;
    }

    /** The largest length that {@link #allocate} would serve now. */
    long largestFreeBytes() {
        return freeBlocks.largestBytes();
    }

    private int require(long allocation) {
        if (!isLive(allocation)) {
            throw new IllegalStateException(
                    "not a live allocation: " + Long.toHexString(allocation));
        }
        return (int) allocation;
    }

    /**
     * Checks that the blocks cover the range without gap or overlap, that no two free blocks touch,
     * and that the sums agree.
     */
    void verify() {
        long at = 0;
        long used = 0;
        boolean freeBefore = false;
        int before = BlockTable.NONE;
        for (int block = first; block != BlockTable.NONE; block = blocks.after(block)) {
            boolean free = !blocks.isUsed(block);
            if (blocks.offset(block) != at
                    || blocks.before(block) != before
                    || blocks.size(block) <= 0) {
                throw new IllegalStateException("broken chain at offset " + at);
            }
            if (free && freeBefore) {
                throw new IllegalStateException("free neighbours at offset " + at);
            }
            used += free ? 0 : blocks.size(block);
            at += blocks.size(block);
            freeBefore = free;
            before = block;
        }
        if (at != capacityBytes || used != usedBytes) {
            throw new IllegalStateException("sums: " + at + ", " + used + ", " + usedBytes);
        }
    }
}
