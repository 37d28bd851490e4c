package io.cassia.transfer.topology;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** Which of a peer's devices a local device should talk to (spec 8.3). Immutable. */
public sealed interface PeerAffinity {
    /** Any that serves the peer's memory. Immutable. */
    record None() implements PeerAffinity {}

    /** The one of the same name: hosts that are wired alike. Immutable. */
    record SameName() implements PeerAffinity {}

    /**
     * Those of a table. Immutable.
     *
     * @param wishes by local device
     */
    record Table(Map<String, List<String>> wishes) implements PeerAffinity {
        public Table {
            Objects.requireNonNull(wishes);
            wishes = Map.copyOf(wishes);
        }
    }

    /** What to hand to {@link DeviceSelector#select(String, int, List)}. */
    default List<String> wishes(String localDevice) {
        return switch (this) {
            case None() -> List.of();
            case SameName() -> List.of(localDevice);
            case Table(Map<String, List<String>> wishes) ->
                    wishes.getOrDefault(localDevice, List.of());
        };
    }

    /** Reads {@code local=peer,peer;local=peer}; ERR_INVALID_ARGUMENT names the bad part. */
    static Outcome<PeerAffinity> parse(String text) {
        Map<String, List<String>> wishes = new LinkedHashMap<>();
        for (String part : text.split(";", -1)) {
            int equals = part.indexOf('=');
            String local = part.substring(0, Math.max(0, equals)).strip();
            List<String> peers =
                    Stream.of(part.substring(equals + 1).split(",", -1))
                            .map(String::strip)
                            .toList();
            if (local.isEmpty() || peers.contains("") || wishes.put(local, peers) != null) {
                return Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT,
                        "device affinity \"%s\": it is <local>=<peer>,<peer>;<local>=<peer>, each"
                                        .formatted(part)
                                + " local device once");
            }
        }
        return Outcome.ok(new Table(wishes));
    }
}
