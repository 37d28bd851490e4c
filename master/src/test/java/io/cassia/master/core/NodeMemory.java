package io.cassia.master.core;

/**
 * Confined to the simulation. The memory that a node lends, in cells of {@link #CELL} bytes. A cell
 * holds the version that was written there last and which part of it.
 */
final class NodeMemory {
    static final int CELL = 64;

    final String endpoint;
    final long base;
    private final long[] cells;

    NodeMemory(String endpoint, long base, long bytes) {
        this.endpoint = endpoint;
        this.base = base;
        this.cells = new long[(int) (bytes / CELL)];
    }

    long bytes() {
        return (long) cells.length * CELL;
    }

    static long content(long version, int part) {
        return version << 16 | part;
    }

    /** Writes some parts of a version into the range that starts at {@code address}. */
    void write(long address, long version, int fromPart, int toPart) {
        int first = (int) ((address - base) / CELL);
        for (int part = fromPart; part < toPart; part++) {
            cells[first + part] = content(version, part);
        }
    }

    void read(long address, long[] into, int fromPart, int toPart) {
        int first = (int) ((address - base) / CELL);
        System.arraycopy(cells, first + fromPart, into, fromPart, toPart - fromPart);
    }

    /** Writes bytes as they were read elsewhere. */
    void paste(long address, long[] from) {
        System.arraycopy(from, 0, cells, (int) ((address - base) / CELL), from.length);
    }

    /** The version whose bytes these are, all of them; 0 when they are of no one version. */
    static long wholeVersion(long[] cells) {
        long version = cells[0] >>> 16;
        for (int part = 0; part < cells.length; part++) {
            if (cells[part] != content(version, part)) {
                return 0;
            }
        }
        return version;
    }
}
