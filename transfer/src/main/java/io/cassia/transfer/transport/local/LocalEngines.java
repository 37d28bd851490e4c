package io.cassia.transfer.transport.local;

import io.cassia.transfer.memory.BufferTable;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The engines of this process, by name, so that they reach each other's memory by a copy. Guarded.
 *
 * <p>This is the one thing that engines of a process share: they are created independently, and
 * only the process as a whole can know that a name is one of its own.
 */
public final class LocalEngines {
    private record Key(String domain, String name) {}

    private static final ConcurrentMap<Key, BufferTable> ENGINES = new ConcurrentHashMap<>();

    private LocalEngines() {}

    /**
     * Makes an engine known.
     *
     * @param domain where its name is valid and who may come: two metadata servers may know the
     *     same name, and a copy must not pass by what a peer over the network has to prove
     */
    public static void add(String domain, String name, BufferTable buffers) {
        ENGINES.put(new Key(domain, name), buffers);
    }

    /** Forgets an engine, unless a later one has taken its name. */
    public static void remove(String domain, String name, BufferTable buffers) {
        ENGINES.remove(new Key(domain, name), buffers);
    }

    /** The registered memory of an engine of this process. */
    public static Optional<BufferTable> find(String domain, String name) {
        return Optional.ofNullable(ENGINES.get(new Key(domain, name)));
    }
}
