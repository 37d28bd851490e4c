package io.cassia.rpc;

import java.time.Duration;

/**
 * What a server grants its peers. Immutable.
 *
 * @param maxBodyBytes longest request body and longest response body
 * @param maxAttachmentBytes longest attachment
 * @param maxConnections connections at a time; further ones are closed at once
 * @param platformThreads connections that get a platform thread, which is nearly twice as fast;
 *     later ones get a virtual thread
 * @param writeStall how long a peer may leave its answers unread before it is dropped
 * @param idle how long a peer may send nothing before it is dropped; zero: for ever
 * @param inputBytes memory for long requests that are coming in, all connections together; who
 *     sends one when it is used up is closed
 */
public record ServerLimits(
        int maxBodyBytes,
        int maxAttachmentBytes,
        int maxConnections,
        int platformThreads,
        Duration writeStall,
        Duration idle,
        long inputBytes) {
    public static final ServerLimits DEFAULT =
            new ServerLimits(
                    64 << 20,
                    16 << 20,
                    16_384,
                    256,
                    Duration.ofSeconds(30),
                    Duration.ZERO,
                    Runtime.getRuntime().maxMemory() / 4);

    /** No buffer can be longer than an array. */
    private static final int MAX_BYTES = 1 << 30;

    public ServerLimits {
        if (maxBodyBytes < 1024 || maxBodyBytes > MAX_BYTES) {
            throw new IllegalArgumentException("maxBodyBytes " + maxBodyBytes);
        }
        if (maxAttachmentBytes < 0 || maxAttachmentBytes > MAX_BYTES / 2) {
            throw new IllegalArgumentException("maxAttachmentBytes " + maxAttachmentBytes);
        }
        if (maxConnections < 1
                || platformThreads < 0
                || writeStall.toMillis() < 1
                || idle.isNegative()
                || inputBytes < 0) {
            throw new IllegalArgumentException("a limit is not positive");
        }
    }

    public ServerLimits withMaxBodyBytes(int bytes) {
        return new ServerLimits(
                bytes,
                maxAttachmentBytes,
                maxConnections,
                platformThreads,
                writeStall,
                idle,
                inputBytes);
    }

    public ServerLimits withMaxConnections(int connections) {
        return new ServerLimits(
                maxBodyBytes,
                maxAttachmentBytes,
                connections,
                platformThreads,
                writeStall,
                idle,
                inputBytes);
    }

    public ServerLimits withPlatformThreads(int threads) {
        return new ServerLimits(
                maxBodyBytes,
                maxAttachmentBytes,
                maxConnections,
                threads,
                writeStall,
                idle,
                inputBytes);
    }

    public ServerLimits withWriteStall(Duration stall) {
        return new ServerLimits(
                maxBodyBytes,
                maxAttachmentBytes,
                maxConnections,
                platformThreads,
                stall,
                idle,
                inputBytes);
    }

    public ServerLimits withIdle(Duration longest) {
        return new ServerLimits(
                maxBodyBytes,
                maxAttachmentBytes,
                maxConnections,
                platformThreads,
                writeStall,
                longest,
                inputBytes);
    }

    public ServerLimits withInputBytes(long bytes) {
        return new ServerLimits(
                maxBodyBytes,
                maxAttachmentBytes,
                maxConnections,
                platformThreads,
                writeStall,
                idle,
                bytes);
    }
}
