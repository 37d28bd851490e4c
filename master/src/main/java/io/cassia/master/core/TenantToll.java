package io.cassia.master.core;

import io.cassia.base.ByteString;

/**
 * What its quota has cost a tenant since the start. Immutable.
 *
 * @param refusedWrites writes that did not fit
 * @param evictedBytes of its own objects that made room for its writes
 */
public record TenantToll(ByteString tenant, long refusedWrites, long evictedBytes) {}
