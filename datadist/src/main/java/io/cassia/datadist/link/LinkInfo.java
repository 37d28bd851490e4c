package io.cassia.datadist.link;

import java.util.Optional;

/**
 * A link at one moment. Immutable.
 *
 * @param peerId cluster at the other end
 * @param state where in its life it is
 * @param dialed whether this side dialled; the other one listens then
 * @param address where the peer is, as far as this side knows
 * @param peerRole role of the peer when the link was made
 * @param whyBroken what ended it, for a broken link
 * @param ageNanos time since it was made
 * @param silenceNanos time since the last sign of life
 */
public record LinkInfo(
        long peerId,
        LinkState state,
        boolean dialed,
        String address,
        Optional<LlmRole> peerRole,
        String whyBroken,
        long ageNanos,
        long silenceNanos) {}
