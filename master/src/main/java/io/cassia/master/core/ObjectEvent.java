package io.cassia.master.core;

import io.cassia.base.ByteString;

/**
 * An object became readable, or is no more. Immutable.
 *
 * @param stored or removed
 * @param group empty when it is in none
 */
public record ObjectEvent(boolean stored, ByteString tenant, ByteString key, ByteString group) {}
