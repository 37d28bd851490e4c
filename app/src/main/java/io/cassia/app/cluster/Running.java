package io.cassia.app.cluster;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Servers that run in this process. Closing stops them in the reverse order of their start.
 * Confined to the thread that closes it.
 */
public final class Running implements AutoCloseable {
    private final String master;
    private final String metadata;
    private final Map<String, String> addresses;
    private final List<String> nodes;
    private final List<Runnable> stops;

    private Running(Builder builder) {
        master = builder.master;
        metadata = builder.metadata;
        addresses = Collections.unmodifiableMap(new LinkedHashMap<>(builder.addresses));
        nodes = List.copyOf(builder.nodes);
        stops = new ArrayList<>(builder.stops);
    }

    /** {@code host:port} of the master's RPC, in this process or another. */
    public String master() {
        return master;
    }

    /** What engines are given as metadata: {@code http://host:port/metadata} or P2PHANDSHAKE. */
    public String metadata() {
        return metadata;
    }

    /** Everything that this process listens on, by name, in the order to be shown. */
    public Map<String, String> addresses() {
        return addresses;
    }

    /** Transfer Engine names of the nodes in this process. */
    public List<String> nodes() {
        return nodes;
    }

    /** Both as one: its addresses behind these, and it is stopped first. */
    public Running with(Running later) {
        Builder both = new Builder().reachedAt(master, metadata);
        addresses.forEach(both::listensOn);
        later.addresses.forEach(both::listensOn);
        nodes.forEach(both::node);
        later.nodes.forEach(both::node);
        stops.forEach(both::onClose);
        later.stops.forEach(both::onClose);
        return both.build();
    }

    @Override
    public void close() {
        stop(stops);
    }

    /** Each of them, whatever becomes of the others; the first failure is thrown at the end. */
    private static void stop(List<Runnable> stops) {
        RuntimeException failure = null;
        while (!stops.isEmpty()) {
            try {
                stops.removeLast().run();
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Collects parts while they start. Confined to its assembly. */
    public static final class Builder {
        private String master = "";
        private String metadata = "";
        private final Map<String, String> addresses = new LinkedHashMap<>();
        private final List<String> nodes = new ArrayList<>();
        private final List<Runnable> stops = new ArrayList<>();

        /** How clients reach the cluster. */
        @CanIgnoreReturnValue
        public Builder reachedAt(String masterAddress, String metadataUri) {
            master = masterAddress;
            metadata = metadataUri;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder listensOn(String name, String address) {
            addresses.put(name, address);
            return this;
        }

        @CanIgnoreReturnValue
        public Builder node(String endpoint) {
            nodes.add(endpoint);
            return this;
        }

        /** Registers how to stop the part that was just started. */
        @CanIgnoreReturnValue
        public Builder onClose(Runnable stop) {
            stops.add(stop);
            return this;
        }

        /** Stops what has been started so far: a later part failed. */
        public void abandon() {
            stop(stops);
        }

        String master() {
            return master;
        }

        String metadata() {
            return metadata;
        }

        public Running build() {
            return new Running(this);
        }
    }
}
