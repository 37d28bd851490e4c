package io.cassia.rpc.pack;

import java.nio.charset.StandardCharsets;

/**
 * Why the failures of one body happened, in the order in which they stand in it. The wire's {@code
 * expected} has room for a number only; this list travels beside the body. Confined to one thread.
 *
 * <pre>
 * section = { u16 length, UTF-8 text } per failure
 * </pre>
 *
 * <p>Long texts are cut and the list ends when it is full: the reader then makes up its own words
 * for the rest.
 */
public final class FailureDetails {
    private static final int MAX_TEXT_BYTES = 2048;

    private final int limitBytes;
    private final WireWriter written;
    private boolean full;

    private WireReader source = new WireReader();

    private FailureDetails(int limitBytes) {
        this.limitBytes = limitBytes;
        this.written = new WireWriter(0, limitBytes);
    }

    /** An empty list that takes at most so many bytes. */
    public static FailureDetails limitedTo(int limitBytes) {
        return new FailureDetails(limitBytes);
    }

    /** A list that was received; a malformed rest of it is treated as missing. */
    public static FailureDetails parse(byte[] section) {
        FailureDetails details = new FailureDetails(0);
        details.source = new WireReader().reset(section, 0, section.length);
        return details;
    }

    /** Whether nothing was added. */
    public boolean isEmpty() {
        return written.position() == 0;
    }

    /** Forgets what was added. */
    public void clear() {
        written.truncate(0);
        full = false;
    }

    /** The list as it travels. */
    public byte[] toBytes() {
        byte[] section = new byte[written.position()];
        System.arraycopy(written.array(), 0, section, 0, section.length);
        return section;
    }

    int mark() {
        return full ? -1 - written.position() : written.position();
    }

    void rewind(int mark) {
        full = mark < 0;
        written.truncate(full ? -1 - mark : mark);
    }

    void add(String detail) {
        if (full) {
            return;
        }
        byte[] text = detail.getBytes(StandardCharsets.UTF_8);
        int length = cut(text);
        if (written.position() + 2 + length > limitBytes) {
            full = true;
            return;
        }
        written.i16(length);
        written.raw(text, 0, length);
    }

    /** A length that does not split a character. */
    private static int cut(byte[] text) {
        if (text.length <= MAX_TEXT_BYTES) {
            return text.length;
        }
        int length = MAX_TEXT_BYTES;
        while (length > 0 && (text[length] & 0xc0) == 0x80) {
            length--;
        }
        return length;
    }

    /** The next text; empty when there is none. */
    String next() {
        if (source.remaining() < 2) {
            return "";
        }
        source.widthCode(1);
        try {
            return source.text();
        } catch (MalformedBodyException e) {
            // A detail is a courtesy: without it the reader has its own words.
            source = new WireReader();
            return "";
        }
    }
}
