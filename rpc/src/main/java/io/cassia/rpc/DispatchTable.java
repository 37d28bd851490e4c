package io.cassia.rpc;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Registrations by function id, found without boxing. Immutable. */
final class DispatchTable {
    private final @Nullable Registration<?, ?>[] slots;
    private final int mask;

    DispatchTable(List<Registration<?, ?>> registrations) {
        int size = Integer.highestOneBit(Math.max(4, registrations.size() * 4));
        slots = new Registration<?, ?>[size];
        mask = size - 1;
        for (Registration<?, ?> each : registrations) {
            int at = each.method().functionId() & mask;
            while (true) {
                Registration<?, ?> other = slots[at];
                if (other == null) {
                    break;
                }
                if (other.method().functionId() == each.method().functionId()) {
                    throw new IllegalArgumentException(
                            each.method() + " and " + other.method() + " have one function id");
                }
                at = at + 1 & mask;
            }
            slots[at] = each;
        }
    }

    @Nullable Registration<?, ?> find(int functionId) {
        int at = functionId & mask;
        while (true) {
            Registration<?, ?> each = slots[at];
            if (each == null || each.method().functionId() == functionId) {
                return each;
            }
            at = at + 1 & mask;
        }
    }
}
