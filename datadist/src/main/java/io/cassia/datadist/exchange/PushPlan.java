package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.cache.TensorSelection;

/**
 * Local half of a push after its checks. Immutable.
 *
 * @param tensors source tensors
 * @param base where in each of them the source offsets count from
 * @param target where it goes
 * @param shape how the bytes lie at the receiver
 * @param pieces what goes
 */
record PushPlan(
        TensorSelection tensors, long base, PushTarget target, Shape shape, Pieces pieces) {}
