package io.cassia.transfer;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Makes bad bytes of good ones. Confined to its thread; what it makes depends on the seed alone.
 */
final class Mutations {
    private final Random random;

    Mutations(long seed) {
        this.random = new Random(seed);
    }

    Random random() {
        return random;
    }

    /** Several of the samples in a row, each whole or with something wrong. */
    byte[] stream(List<byte[]> samples, int most) {
        byte[] all = new byte[0];
        for (int i = 1 + random.nextInt(most); i > 0; i--) {
            byte[] sample = samples.get(random.nextInt(samples.size()));
            all = RawClient.concat(all, random.nextInt(3) == 0 ? sample : mutated(sample));
        }
        return all;
    }

    /** The bytes with a few changes. */
    byte[] mutated(byte[] bytes) {
        byte[] changed = bytes.clone();
        for (int i = random.nextInt(4); i >= 0; i--) {
            changed = change(changed);
        }
        return changed;
    }

    private byte[] change(byte[] bytes) {
        if (bytes.length == 0) {
            return new byte[] {(byte) random.nextInt()};
        }
        int at = random.nextInt(bytes.length);
        return switch (random.nextInt(7)) {
            case 0 -> Arrays.copyOf(bytes, at);
            case 1 -> RawClient.concat(bytes, Arrays.copyOfRange(bytes, at, bytes.length));
            case 2 ->
                    RawClient.concat(
                            Arrays.copyOf(bytes, at),
                            new byte[] {(byte) random.nextInt()},
                            Arrays.copyOfRange(bytes, at, bytes.length));
            case 3 ->
                    RawClient.concat(
                            Arrays.copyOf(bytes, at),
                            Arrays.copyOfRange(
                                    bytes, Math.min(bytes.length, at + 1), bytes.length));
            case 4 -> set(bytes, at, (byte) (bytes[at] ^ 1 << random.nextInt(8)));
            case 5 -> set(bytes, at, new byte[] {0, 1, -1, 0x7f, -128}[random.nextInt(5)]);
            default -> set(bytes, at, (byte) random.nextInt());
        };
    }

    private static byte[] set(byte[] bytes, int at, byte value) {
        byte[] changed = bytes.clone();
        changed[at] = value;
        return changed;
    }
}
