package io.cassia.lab.datadist;

import io.cassia.datadist.cache.Cache;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;

/** Bytes that tell where they belong, and their checksums. Immutable. */
final class Contents {
    private Contents() {}

    /** Every word of every tensor from a seed, so that any mix-up shows. */
    static void fill(Cache cache, long seed) {
        for (int t = 0; t < cache.tensors().size(); t++) {
            fill(cache.tensors().get(t), seed * 31 + t);
        }
    }

    static void fill(MemorySegment memory, long seed) {
        long base = seed * 0x9E37_79B9_7F4A_7C15L;
        long words = memory.byteSize() / 8;
        for (long i = 0; i < words; i++) {
            memory.setAtIndex(
                    ValueLayout.JAVA_LONG_UNALIGNED, i, (base + i) * 0xBF58_476D_1CE4_E5B9L);
        }
        for (long i = words * 8; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (base + i));
        }
    }

    /** Of one batch of all tensors. */
    static String sum(Cache cache, int batch) {
        CRC32C crc = new CRC32C();
        long stride = cache.desc().geometry().orThrow().strideBytes();
        for (MemorySegment tensor : cache.tensors()) {
            crc.update(tensor.asSlice(batch * stride, stride).asByteBuffer());
        }
        return Long.toHexString(crc.getValue());
    }
}
