package io.cassia.datadist.link;

/**
 * Who uses a link. Guarded by the link's lock.
 *
 * <p>Operations of this side take one of the channels; those of the peer are only counted, by kind.
 * Operations of different kinds exclude each other at once; those of one kind queue on this side
 * and run beside those of the peer.
 */
final class LinkUse {
    private final int channels;
    private final int[] local = new int[OpKind.values().length];
    private final int[] serving = new int[OpKind.values().length];

    LinkUse(int channels) {
        this.channels = channels;
    }

    /** The operation of this side that excludes another one of it, as words; empty for none. */
    String conflict(OpKind kind) {
        for (OpKind other : OpKind.values()) {
            if (other != kind && count(local, other) > 0) {
                return "a " + other + " of this side";
            }
        }
        return "";
    }

    /** The operation of the peer that excludes one of this side, as words; empty for none. */
    String conflictWithPeer(OpKind kind) {
        for (OpKind other : OpKind.values()) {
            if (other != kind && count(serving, other) > 0) {
                return "a " + other + " of the peer";
            }
        }
        return "";
    }

    boolean hasFreeChannel(OpKind kind) {
        return count(local, kind) < channels;
    }

    /** Whether only operations of the peer keep the link from being given up. */
    boolean isBusyForPeerOnly() {
        return localCount() == 0 && !busy().isEmpty();
    }

    /** What keeps the link from being given up; empty when nothing does. */
    String busy() {
        for (OpKind kind : OpKind.values()) {
            if (count(local, kind) > 0) {
                return "a " + kind + " of this side";
            }
            if (count(serving, kind) > 0) {
                return "a " + kind + " of the peer";
            }
        }
        return "";
    }

    /** The kind of this side that excludes an operation of the peer; empty when none does. */
    String conflictForPeer(OpKind kind) {
        for (OpKind other : OpKind.values()) {
            if (other != kind && count(local, other) > 0) {
                return "a " + other + " is running there";
            }
        }
        return "";
    }

    void acquire(OpKind kind) {
        local[index(kind)]++;
    }

    void release(OpKind kind) {
        local[index(kind)]--;
    }

    void beginServing(OpKind kind) {
        serving[index(kind)]++;
    }

    void endServing(OpKind kind) {
        serving[index(kind)]--;
    }

    int localCount() {
        int sum = 0;
        for (int count : local) {
            sum += count;
        }
        return sum;
    }

    private static int count(int[] counts, OpKind kind) {
        return counts[index(kind)];
    }

    private static int index(OpKind kind) {
        return switch (kind) {
            case PULL -> 0;
            case PUSH -> 1;
            case CHECK -> 2;
        };
    }
}
