package io.cassia.app.bench.store;

/**
 * One measurement. Immutable.
 *
 * @param where the memory is
 * @param operation what is measured
 * @param bytes of an object
 * @param batch objects per call
 */
public record StoreCell(Where where, Operation operation, long bytes, int batch) {
    /** What a call does. */
    public enum Operation {
        PUT,
        GET
    }

    public StoreCell {
        if (bytes < 1 || batch < 1) {
            throw new IllegalArgumentException(bytes + " bytes, batches of " + batch);
        }
    }
}
