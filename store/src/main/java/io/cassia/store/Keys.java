package io.cassia.store;

import io.cassia.base.ByteString;

/** Immutable. How keys stand in messages: quoted, and cut when long. */
final class Keys {
    private static final int SHOWN = 80;

    private Keys() {}

    static String show(ByteString key) {
        String text = key.text();
        return text.length() <= SHOWN
                ? "'" + text + "'"
                : "'" + text.substring(0, SHOWN) + "...' (" + key.length() + " bytes)";
    }
}
