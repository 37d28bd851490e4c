package io.cassia.datadist.exchange;

/** Tells a layer-wise push when the model has written a layer. */
@FunctionalInterface
public interface LayerSynchronizer {
    /**
     * Returns when the layer may be sent; it may block. False ends the task: every configuration
     * that wanted the layer fails with {@code LLM_PARAM_INVALID}. Called once per layer, in order,
     * on the task's thread.
     */
    boolean synchronizeLayer(int layerIndex) throws InterruptedException;
}
