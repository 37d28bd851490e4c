package io.cassia.store;

/**
 * The CRC32C of bytes that lie one behind the other, from those of its parts. Immutable; the CRC of
 * the bytes themselves is {@link java.util.zip.CRC32C}'s.
 *
 * <p>A CRC is a remainder: of polynomials over GF(2), by P. Bytes that follow move the ones before
 * up, that is, multiply them by x<sup>8</sup> each; so the sum of both is the first one times
 * x<sup>8n</sup> mod P, plus the second one. What the CRC begins and ends with (all bits inverted)
 * cancels out. Polynomials are written as CRC32C is: the highest bit is that of x<sup>0</sup>.
 */
final class Crc32c {
    /** P without its x<sup>32</sup>. */
    private static final int POLYNOMIAL = 0x82F63B78;

    /** x<sup>8</sup>: one byte. */
    private static final int ONE_BYTE = 1 << (31 - Byte.SIZE);

    /** For each bit of a length what so many bytes multiply by. */
    private static final int[] SHIFTS = shifts();

    private Crc32c() {}

    private static int[] shifts() {
        int[] shifts = new int[Long.SIZE - 1];
        shifts[0] = ONE_BYTE;
        for (int bit = 1; bit < shifts.length; bit++) {
            shifts[bit] = product(shifts[bit - 1], shifts[bit - 1]);
        }
        return shifts;
    }

    private static int product(int a, int b) {
        int product = 0;
        int shifted = b;
        for (int bits = a; bits != 0; bits <<= 1) {
            // All ones where the bit is set.
            product ^= shifted & (bits >> 31);
            shifted = (shifted >>> 1) ^ (POLYNOMIAL & -(shifted & 1));
        }
        return product;
    }

    /**
     * Of bytes followed by others.
     *
     * @param first CRC of the former
     * @param second CRC of the latter
     * @param secondBytes how many the latter are; not negative
     */
    static int combine(int first, int second, long secondBytes) {
        int moved = first;
        for (long bits = secondBytes; bits != 0; bits &= bits - 1) {
            moved = product(SHIFTS[Long.numberOfTrailingZeros(bits)], moved);
        }
        return moved ^ second;
    }
}
