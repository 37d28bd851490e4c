package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.cache.TensorSelection;

/**
 * Local half of a pull after its checks. Immutable.
 *
 * @param tensors destination tensors
 * @param shape how the bytes lie at the owner
 * @param pieces what comes; source offsets count from where the owner's grant begins
 * @param mayConsume whether a success may consume a key
 */
record PullPlan(TensorSelection tensors, Shape shape, Pieces pieces, boolean mayConsume) {}
