package io.cassia.datadist.exchange;

import io.cassia.datadist.link.OpKind;
import io.cassia.status.Done;
import io.cassia.status.Outcome;

/**
 * The end of a transfer that a peer has begun. Immutable.
 *
 * @param kind PUSH: a peer has written into a cache here, PULL: a peer has read one
 * @param peerId the peer
 * @param cacheId cache of this side
 * @param batchIndex batch of this side; 0 where blocks were moved
 * @param firstTensor first tensor of this side that was moved
 * @param tensors tensors moved
 * @param bytes bytes moved, for a success
 * @param consumedKey whether a key of this side was consumed by it
 * @param outcome how it ended; after a failure the bytes of a PUSH are undefined
 */
public record TransferEvent(
        OpKind kind,
        long peerId,
        long cacheId,
        int batchIndex,
        int firstTensor,
        int tensors,
        long bytes,
        boolean consumedKey,
        Outcome<Done> outcome) {}
