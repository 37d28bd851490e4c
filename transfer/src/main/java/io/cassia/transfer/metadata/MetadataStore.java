package io.cassia.transfer.metadata;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.Optional;

/**
 * A shared map of short texts that engines find each other by. Guarded: implementations are called
 * from any thread. Every failure is ERR_METADATA and names the key and the cause.
 */
public interface MetadataStore extends AutoCloseable {
    /** The value of a key, or nothing when the store has none; gives up after the timeout. */
    Outcome<Optional<String>> find(String key, Duration timeout);

    /** Sets a value; the store may refuse it. */
    Outcome<Done> put(String key, String value);

    /**
     * Makes sure that a value that was put still stands, and renews its time to live in stores
     * where entries age. Cheaper than {@link #put} where the store can tell that nothing changed.
     */
    default Outcome<Done> keep(String key, String value) {
        return put(key, value);
    }

    /** Removes a key; one that is not there is removed. */
    Outcome<Done> remove(String key);

    @Override
    void close();
}
