package io.cassia.app.cli;

import io.cassia.transfer.transport.Transport;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * What may carry bytes in one run. Immutable.
 *
 * @param label as it was written
 * @param transports one or more
 */
record TransportChoice(String label, Set<Transport> transports) {
    private static final String ANY = "any";

    /** {@code any}, or names with {@code +} between them. */
    static final class Name implements ITypeConverter<TransportChoice> {
        @Override
        public TransportChoice convert(String text) {
            if (text.equals(ANY)) {
                return new TransportChoice(text, EnumSet.allOf(Transport.class));
            }
            Set<Transport> chosen = EnumSet.noneOf(Transport.class);
            for (String name : text.split("\\+", -1)) {
                chosen.add(
                        Arrays.stream(Transport.values())
                                .filter(transport -> transport.label().equals(name))
                                .findFirst()
                                .orElseThrow(
                                        () ->
                                                new TypeConversionException(
                                                        "'"
                                                                + name
                                                                + "' is not any, tcp, uds, shm,"
                                                                + " process-vm or local")));
            }
            return new TransportChoice(text, chosen);
        }
    }
}
