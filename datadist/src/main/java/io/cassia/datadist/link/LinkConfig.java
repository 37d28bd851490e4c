package io.cassia.datadist.link;

import java.time.Duration;

/**
 * How an instance links. Immutable.
 *
 * @param roleGating whether roles decide who may link, pull and push
 * @param remoteAccess what it tells peers about remote access to caches; both ends have to agree
 * @param secureData whether the data plane asks for certificates and token; both ends have to agree
 * @param channels operations of one kind that may run at once on a link
 * @param maxLinks most links at a time
 * @param connectTries attempts to connect within the timeout of a call
 * @param heartbeat silence after which a peer is asked for a sign of life
 * @param heartbeatMisses a link breaks after this many heartbeats of silence
 * @param relinkTries attempts to make a broken link again that this side dialled; 0: none
 * @param credentials how it proves itself
 */
public record LinkConfig(
        boolean roleGating,
        boolean remoteAccess,
        boolean secureData,
        int channels,
        int maxLinks,
        int connectTries,
        Duration heartbeat,
        int heartbeatMisses,
        int relinkTries,
        Credentials credentials) {}
