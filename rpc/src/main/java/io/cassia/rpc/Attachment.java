package io.cassia.rpc;

import io.cassia.base.ByteString;
import io.cassia.rpc.pack.WireWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What travels behind a body for those who understand it. A peer of upstream ignores attachments
 * and sends none (recorded), so extensions ride here. Immutable.
 *
 * <pre>
 * attachment = "CSA1" section*
 * section    = u16 tag, u32 length, length bytes        little-endian
 * </pre>
 *
 * A tag that the reader does not know is passed over. Of two sections with one tag the first
 * counts. More than 64 sections are malformed.
 *
 * @param sections in the order of the wire
 */
public record Attachment(List<Section> sections) {
    /** No attachment. */
    public static final Attachment NONE = new Attachment(List.of());

    /**
     * In a request: send the details of failures. In a response: those details, see {@code
     * FailureDetails}.
     */
    public static final int DETAILS = 1;

    /**
     * In the request of an End or a Revoke of a put or upsert: for each object in order the id of
     * the first replica that its Start answered, 8 bytes each; 0 says nothing. What arrives late,
     * when that put is no longer in flight, is refused. In the End or Revoke of a copy or move: the
     * id of the first target that its Start answered, or of the source when there was no target.
     */
    public static final int PUTS = 2;

    /**
     * In the request of a Start of a put, upsert, copy or move: say how long its space is the
     * writer's. In the response: that time, 8 bytes, in milliseconds from when the master got the
     * request; later the space may be another object's, whatever became of the put.
     */
    public static final int TERM = 3;

    /** Asks for the details of failures, and nothing else. */
    static final Attachment WANT_DETAILS = NONE.with(DETAILS, ByteString.EMPTY);

    private static final Optional<Attachment> ONLY_WANT_DETAILS = Optional.of(WANT_DETAILS);

    static final int MAGIC = 0x31415343;
    static final int MAGIC_BYTES = 4;
    private static final int SECTION_HEADER_BYTES = 6;
    private static final int MAX_SECTIONS = 64;

    /**
     * One part of an attachment.
     *
     * @param tag 0 to 65535
     */
    public record Section(int tag, ByteString content) {
        public Section {
            if (tag < 0 || tag > 0xffff) {
                throw new IllegalArgumentException("tag " + tag + " does not fit 16 bits");
            }
        }
    }

    public Attachment {
        sections = List.copyOf(sections);
    }

    public boolean isEmpty() {
        return sections.isEmpty();
    }

    /** The content of the first section with this tag. */
    public Optional<ByteString> find(int tag) {
        for (Section section : sections) {
            if (section.tag() == tag) {
                return Optional.of(section.content());
            }
        }
        return Optional.empty();
    }

    /** This and one more section. */
    public Attachment with(int tag, ByteString content) {
        List<Section> more = new ArrayList<>(sections);
        more.add(new Section(tag, content));
        return new Attachment(more);
    }

    /** Appends the bytes; none for an empty attachment. */
    void write(WireWriter writer) {
        if (isEmpty()) {
            return;
        }
        writer.i32(MAGIC);
        for (Section section : sections) {
            writer.i16(section.tag());
            writer.i32(section.content().length());
            writer.raw(section.content().array(), 0, section.content().length());
        }
    }

    /** The one attachment that comes with nearly every request of a Cassia client. */
    private static boolean isWantDetails(byte[] bytes, int offset, int length) {
        return length == MAGIC_BYTES + SECTION_HEADER_BYTES
                && LittleEndian.i32(bytes, offset) == MAGIC
                && LittleEndian.u16(bytes, offset + MAGIC_BYTES) == DETAILS
                && LittleEndian.i32(bytes, offset + MAGIC_BYTES + 2) == 0;
    }

    /**
     * The attachment in these bytes; empty when they are not one, which is no error of the call.
     */
    static Optional<Attachment> parse(byte[] bytes, int offset, int length) {
        if (isWantDetails(bytes, offset, length)) {
            return ONLY_WANT_DETAILS;
        }
        int end = offset + length;
        if (length < MAGIC_BYTES || LittleEndian.i32(bytes, offset) != MAGIC) {
            return Optional.empty();
        }
        List<Section> sections = new ArrayList<>(2);
        int at = offset + MAGIC_BYTES;
        while (at < end) {
            if (end - at < SECTION_HEADER_BYTES || sections.size() == MAX_SECTIONS) {
                return Optional.empty();
            }
            int tag = LittleEndian.u16(bytes, at);
            int size = LittleEndian.i32(bytes, at + 2);
            at += SECTION_HEADER_BYTES;
            if (size < 0 || size > end - at) {
                return Optional.empty();
            }
            byte[] content = new byte[size];
            System.arraycopy(bytes, at, content, 0, size);
            sections.add(new Section(tag, ByteString.wrap(content)));
            at += size;
        }
        return Optional.of(new Attachment(sections));
    }
}
