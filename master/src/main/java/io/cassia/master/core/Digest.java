package io.cassia.master.core;

import io.cassia.rpc.mooncake.Uuid;

/** Confined to the caller. Folds the whole state into one number, to compare two machines. */
final class Digest {
    private long value = 0x243F_6A88_85A3_08D3L;

    void add(long number) {
        long mixed = (value ^ number) * 0x9E37_79B9_7F4A_7C15L;
        value = mixed ^ (mixed >>> 29);
    }

    void add(byte[] bytes) {
        add(bytes.length);
        for (byte one : bytes) {
            add((long) one);
        }
    }

    void add(Uuid id) {
        add(id.first());
        add(id.second());
    }

    long value() {
        return value;
    }
}
