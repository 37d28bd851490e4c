package io.cassia.transfer.topology;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The opened devices of an engine that speaks protocol {@code rdma}. Immutable. */
public final class RdmaContexts implements AutoCloseable {
    private final List<Verbs.Context> contexts;

    private RdmaContexts(List<Verbs.Context> contexts) {
        this.contexts = List.copyOf(contexts);
    }

    /**
     * Opens all devices that can be used. ERR_DEVICE_NOT_FOUND when the host has none that the
     * filter allows, ERR_CONTEXT when one cannot be opened; then none stays open.
     *
     * @param verbs libibverbs; a host without it has no device that can be used
     */
    public static Outcome<RdmaContexts> open(
            Optional<Verbs> verbs, HostTopology host, DeviceFilter filter) {
        return host.requireDevices(filter)
                .then(
                        devices ->
                                verbs.isPresent()
                                        ? open(verbs.get(), devices)
                                        : Outcome.failed(
                                                TransferCode.ERR_CONTEXT,
                                                "libibverbs is not installed"));
    }

    private static Outcome<RdmaContexts> open(Verbs verbs, List<RdmaDevice> devices) {
        List<Verbs.Context> opened = new ArrayList<>();
        for (RdmaDevice device : devices) {
            switch (verbs.open(device.name())) {
                case Outcome.Ok<Verbs.Context>(Verbs.Context context) -> opened.add(context);
                case Outcome.Failed<Verbs.Context>(var _, String detail) -> {
                    opened.forEach(Verbs.Context::close);
                    // A device that was listed a moment ago and is gone cannot be opened either.
                    return Outcome.failed(TransferCode.ERR_CONTEXT, detail);
                }
            }
        }
        return Outcome.ok(new RdmaContexts(opened));
    }

    /** Names of the open devices. */
    public List<String> devices() {
        return contexts.stream().map(Verbs.Context::device).toList();
    }

    @Override
    public void close() {
        contexts.forEach(Verbs.Context::close);
    }
}
