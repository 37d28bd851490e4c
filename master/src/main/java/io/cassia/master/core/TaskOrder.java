package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Uuid;
import java.util.List;

/**
 * A task as it is handed to the client that shall carry it out. Immutable.
 *
 * @param move whether the source goes afterwards; else it is a copy
 * @param source name of the segment to read from, which the client owns
 * @param targets names of the segments to write to; one for a move
 * @param createdAtMs wall clock
 */
public record TaskOrder(
        Uuid id,
        boolean move,
        ByteString tenant,
        ByteString key,
        String source,
        List<String> targets,
        long createdAtMs,
        int maxRetryAttempts) {}
