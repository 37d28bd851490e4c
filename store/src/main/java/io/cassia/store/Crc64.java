package io.cassia.store;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Upstream's checksum of an object (spec mooncake-store 10): CRC-64 with the polynomial of
 * ECMA-182, most significant bit first, starting at 0. Immutable; holds no state.
 */
final class Crc64 {
    private static final long POLYNOMIAL = 0x42F0_E1EB_A9EA_3693L;
    private static final ValueLayout.OfLong WORD =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Entry [k][b]: the sum of byte b followed by k zero bytes. */
    private static final long[][] TABLES = tables();

    private Crc64() {}

    private static long[][] tables() {
        long[][] tables = new long[8][256];
        for (int b = 0; b < 256; b++) {
            long sum = (long) b << 56;
            for (int bit = 0; bit < 8; bit++) {
                sum = sum < 0 ? (sum << 1) ^ POLYNOMIAL : sum << 1;
            }
            tables[0][b] = sum;
        }
        for (int k = 1; k < 8; k++) {
            for (int b = 0; b < 256; b++) {
                long before = tables[k - 1][b];
                tables[k][b] = (before << 8) ^ tables[0][(int) (before >>> 56)];
            }
        }
        return tables;
    }

    static long of(List<MemorySegment> parts) {
        long sum = 0;
        for (MemorySegment part : parts) {
            sum = update(sum, part);
        }
        return sum;
    }

    /** Eight bytes a step. */
    private static long update(long start, MemorySegment bytes) {
        long sum = start;
        long length = bytes.byteSize();
        long at = 0;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            long x = sum ^ bytes.get(WORD, at);
            sum =
                    TABLES[7][(int) (x >>> 56)]
                            ^ TABLES[6][(int) (x >>> 48) & 0xFF]
                            ^ TABLES[5][(int) (x >>> 40) & 0xFF]
                            ^ TABLES[4][(int) (x >>> 32) & 0xFF]
                            ^ TABLES[3][(int) (x >>> 24) & 0xFF]
                            ^ TABLES[2][(int) (x >>> 16) & 0xFF]
                            ^ TABLES[1][(int) (x >>> 8) & 0xFF]
                            ^ TABLES[0][(int) x & 0xFF];
        }
        for (; at < length; at++) {
            int b = bytes.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
            sum = (sum << 8) ^ TABLES[0][(int) (sum >>> 56) ^ b];
        }
        return sum;
    }
}
