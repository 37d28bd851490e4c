package io.cassia.master.core;

import io.cassia.testkit.simulation.History;
import org.jspecify.annotations.Nullable;

/**
 * Something that a client did to a key or saw of it, for the history of that key. A key's state is
 * the number of the version that a get would read, 0 when there is none. Immutable.
 */
record StoreOperation(Kind kind, long version) {
    enum Kind {
        /** A put: only where nothing is. */
        PUT,
        UPSERT,
        /**
         * A remove after which nothing is there, by its own doing or not: its message may arrive
         * twice, and either answer may be the one that is heard. What was removed is {@link #LOST}.
         */
        REMOVE,
        /** A get: this version, or nothing. */
        SAW,
        /** An exist that said yes. */
        EXISTS,
        /** The master gave the version up: removal, eviction, death of a node. */
        LOST
    }

    static final class Rules implements History.Rules<Long, StoreOperation> {
        @Override
        public @Nullable Long apply(Long state, StoreOperation operation) {
            long version = operation.version;
            return switch (operation.kind) {
                case PUT -> state == 0 ? (Long) version : null;
                case UPSERT -> (Long) version;
                case REMOVE -> (Long) 0L;
                case SAW -> state == version ? state : null;
                case EXISTS -> state != 0 ? state : null;
                case LOST -> state == version ? (Long) 0L : null;
            };
        }

        @Override
        public boolean isObservation(StoreOperation operation) {
            return operation.kind == Kind.SAW || operation.kind == Kind.EXISTS;
        }
    }
}
