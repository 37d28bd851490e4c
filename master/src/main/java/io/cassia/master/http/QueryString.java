package io.cassia.master.http;

import io.cassia.base.ByteString;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The parameters of a request. Immutable.
 *
 * <p>{@code %xx} stands for a byte; {@code +} stands for itself, because keys may hold it and
 * upstream decodes nothing.
 */
final class QueryString {
    private final String raw;

    QueryString(String raw) {
        this.raw = raw;
    }

    /** The bytes of the first parameter of this name. */
    Optional<ByteString> find(String name) {
        for (String pair : split(raw, '&')) {
            int equals = pair.indexOf('=');
            if (equals >= 0 && pair.substring(0, equals).equals(name)) {
                return Optional.of(decode(pair.substring(equals + 1)));
            }
        }
        return Optional.empty();
    }

    /** The parameter's parts between commas, each decoded on its own; empty parts are left out. */
    List<ByteString> list(String name) {
        List<ByteString> parts = new ArrayList<>();
        for (String pair : split(raw, '&')) {
            if (pair.startsWith(name + "=")) {
                for (String part : split(pair.substring(name.length() + 1), ',')) {
                    if (!part.isEmpty()) {
                        parts.add(decode(part));
                    }
                }
                break;
            }
        }
        return parts;
    }

    private static List<String> split(String text, char separator) {
        List<String> parts = new ArrayList<>();
        int from = 0;
        for (int to = text.indexOf(separator); to >= 0; to = text.indexOf(separator, from)) {
            parts.add(text.substring(from, to));
            from = to + 1;
        }
        parts.add(text.substring(from));
        return parts;
    }

    private static ByteString decode(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream decoded = new ByteArrayOutputStream(bytes.length);
        for (int i = 0; i < bytes.length; i++) {
            int high = bytes[i] == '%' && i + 2 < bytes.length ? hex(bytes[i + 1]) : -1;
            int low = high >= 0 ? hex(bytes[i + 2]) : -1;
            if (low >= 0) {
                decoded.write(high << 4 | low);
                i += 2;
            } else {
                decoded.write(bytes[i]);
            }
        }
        return ByteString.wrap(decoded.toByteArray());
    }

    private static int hex(byte digit) {
        return Character.digit(digit, 16);
    }
}
