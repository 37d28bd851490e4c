package io.cassia.gateways.rest;

import io.cassia.base.ByteString;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Keys in the path of a request: everything behind the operation's name, slashes included. {@code
 * %xx} stands for one byte, so that any key can be written; {@code +} stands for itself. Immutable.
 */
final class KeyPath {
    /** Longer keys are refused: they are kept in memory by the master. */
    static final int MAX_BYTES = 4096;

    private KeyPath() {}

    /** INVALID_KEY for an empty one, one that is too long, or a {@code %} without two digits. */
    static Outcome<ByteString> decode(String rawPath) {
        byte[] raw = rawPath.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream key = new ByteArrayOutputStream(raw.length);
        for (int i = 0; i < raw.length; i++) {
            if (raw[i] != '%') {
                key.write(raw[i]);
                continue;
            }
            int high = i + 2 < raw.length ? Character.digit(raw[i + 1], 16) : -1;
            int low = high >= 0 ? Character.digit(raw[i + 2], 16) : -1;
            if (low < 0) {
                return Outcome.failed(
                        StoreCode.INVALID_KEY, "the key has a % without two hexadecimal digits");
            }
            key.write(high << 4 | low);
            i += 2;
        }
        return check(ByteString.wrap(key.toByteArray()));
    }

    /** INVALID_KEY for an empty key or one that is too long. */
    static Outcome<ByteString> check(ByteString key) {
        if (key.isEmpty()) {
            return Outcome.failed(StoreCode.INVALID_KEY, "the key is empty");
        }
        return key.length() <= MAX_BYTES
                ? Outcome.ok(key)
                : Outcome.failed(
                        StoreCode.INVALID_KEY,
                        "the key has %d bytes, at most %d are taken"
                                .formatted(key.length(), MAX_BYTES));
    }
}
