package io.cassia.datadist.link;

import io.cassia.base.ByteString;

/**
 * One message of a control connection. Immutable.
 *
 * @param type what it is
 * @param requestId number that an answer repeats; each side counts its own requests
 * @param answer whether it answers a request
 * @param body content, laid out by the type
 */
public record Frame(FrameType type, long requestId, boolean answer, ByteString body) {}
