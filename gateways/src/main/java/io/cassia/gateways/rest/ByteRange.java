package io.cassia.gateways.rest;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One range of an object, of the header {@code Range: bytes=...} (RFC 9110, 14). Immutable.
 *
 * @param offset of the first byte
 * @param length in bytes, above 0
 */
record ByteRange(long offset, long length) {
    private static final Pattern ONE = Pattern.compile("bytes=(\\d{0,18})-(\\d{0,18})");

    /**
     * What the header asks for: everything when it is none, has another unit, several ranges or no
     * sense, which the RFC leaves to the server; nothing for a range outside of the object.
     *
     * @return empty when not one byte of the range exists: 416
     */
    static Optional<ByteRange> of(Optional<String> header, long size) {
        Optional<ByteRange> all = Optional.of(new ByteRange(0, size));
        Matcher range = ONE.matcher(header.orElse("").strip());
        if (!range.matches() || (range.group(1).isEmpty() && range.group(2).isEmpty())) {
            return all;
        }
        if (range.group(1).isEmpty()) {
            long last = Math.min(size, Long.parseLong(range.group(2)));
            return last == 0 ? Optional.empty() : Optional.of(new ByteRange(size - last, last));
        }
        long first = Long.parseLong(range.group(1));
        long end = range.group(2).isEmpty() ? Long.MAX_VALUE : Long.parseLong(range.group(2)) + 1;
        if (end <= first) {
            return all;
        }
        return first >= size
                ? Optional.empty()
                : Optional.of(new ByteRange(first, Math.min(end, size) - first));
    }

    boolean isAll(long size) {
        return offset == 0 && length == size;
    }

    /** Value of {@code Content-Range}. */
    String contentRange(long size) {
        return "bytes " + offset + "-" + (offset + length - 1) + "/" + size;
    }
}
