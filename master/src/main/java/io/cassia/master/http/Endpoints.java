package io.cassia.master.http;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** The endpoints by path and method. Confined to the thread that adds them, then immutable. */
final class Endpoints {
    private final Map<String, Map<String, Function<Request, Reply>>> byPath = new HashMap<>();

    @CanIgnoreReturnValue
    Endpoints get(String path, Function<Request, Reply> endpoint) {
        return add("GET", path, endpoint);
    }

    @CanIgnoreReturnValue
    Endpoints post(String path, Function<Request, Reply> endpoint) {
        return add("POST", path, endpoint);
    }

    @CanIgnoreReturnValue
    Endpoints add(String method, String path, Function<Request, Reply> endpoint) {
        Function<Request, Reply> before =
                byPath.computeIfAbsent(path, _ -> new TreeMap<>()).put(method, endpoint);
        if (before != null) {
            throw new IllegalStateException("two endpoints " + method + " " + path);
        }
        return this;
    }

    boolean knows(String path) {
        return byPath.containsKey(path);
    }

    /** The endpoint of a method at a known path. */
    Optional<Function<Request, Reply>> find(String method, String path) {
        return Optional.ofNullable(byPath.getOrDefault(path, Map.of()).get(method));
    }

    /** The methods of a known path. */
    String allowed(String path) {
        return String.join(", ", byPath.getOrDefault(path, Map.of()).keySet());
    }

    /** All paths. */
    SortedSet<String> paths() {
        return new TreeSet<>(byPath.keySet());
    }
}
