package io.cassia.app.replay;

/**
 * How a trace is run. Immutable.
 *
 * @param blockBytes size of every block
 * @param seed chooses the blocks' content and is part of their keys, so that runs with different
 *     seeds do not meet
 * @param speed multiple of the trace's own pace; 0 is as fast as the store allows
 */
public record ReplayOptions(int blockBytes, long seed, double speed) {
    public ReplayOptions {
        if (blockBytes < 1) {
            throw new IllegalArgumentException("blockBytes " + blockBytes);
        }
        if (!(speed >= 0) || Double.isInfinite(speed)) {
            throw new IllegalArgumentException("speed " + speed);
        }
    }
}
