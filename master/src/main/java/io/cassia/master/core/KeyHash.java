package io.cassia.master.core;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Immutable. Hash of (tenant, key) with a secret seed, so that nobody can choose keys that collide.
 */
final class KeyHash {
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ODD = 0x9E37_79B9_7F4A_7C15L;

    private final long seed;

    KeyHash(long seed) {
        this.seed = mix(seed ^ ODD);
    }

    long of(int tenant, byte[] key) {
        long hash = seed ^ ((long) tenant << 32) ^ key.length;
        int at = 0;
        for (; at + Long.BYTES <= key.length; at += Long.BYTES) {
            hash = mix(hash ^ (long) LONGS.get(key, at));
        }
        long rest = 0;
        for (; at < key.length; at++) {
            rest = (rest << Byte.SIZE) | (key[at] & 0xFF);
        }
        return mix(mix(hash ^ rest) + ODD);
    }

    private static long mix(long word) {
        return Math.multiplyHigh(word, ODD) ^ word * ODD;
    }
}
