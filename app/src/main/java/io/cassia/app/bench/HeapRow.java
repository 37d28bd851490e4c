package io.cassia.app.bench;

/**
 * What objects cost a master. Immutable.
 *
 * @param objects held
 * @param heapBytes of them all, after collections
 * @param keyBytes of one key in the heap, of the above
 * @param putsPerSecond while they were put in batches
 * @param existP50Nanos of a single exist among them
 */
public record HeapRow(
        long objects, long heapBytes, long keyBytes, double putsPerSecond, long existP50Nanos) {
    /** Of one object, its key included. */
    public double perObject() {
        return heapBytes / (double) objects;
    }
}
