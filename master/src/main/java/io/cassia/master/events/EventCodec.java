package io.cassia.master.events;

import io.cassia.base.ByteString;
import io.cassia.master.core.ObjectEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.OptionalLong;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * Encodes events in MessagePack (spec mooncake-store 12.5). Immutable.
 *
 * <pre>
 *   [timestamp in ms, [event, ...], 0]      event: a map in the order of {@link #pack}
 * </pre>
 */
final class EventCodec {
    /** A number of 64 bits in decimal has at most so many digits. */
    private static final int MOST_DIGITS = 20;

    private final KvEventsConfig config;

    EventCodec(KvEventsConfig config) {
        this.config = config;
    }

    /** Whether an event can be published: with its key, or by the number that the key is. */
    boolean hasName(ObjectEvent event) {
        return config.objectKeys() || sequenceHash(event.key()).isPresent();
    }

    /**
     * @param firstId of the first event; those that follow count on
     */
    byte[] encode(List<ObjectEvent> events, long firstId, long epochMillis) {
        try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
            packer.packArrayHeader(3).packLong(epochMillis).packArrayHeader(events.size());
            long id = firstId;
            for (ObjectEvent event : events) {
                pack(packer, event, id++, epochMillis);
            }
            packer.packInt(0);
            return packer.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // It writes to memory.
        }
    }

    private void pack(MessageBufferPacker packer, ObjectEvent event, long id, long epochMillis)
            throws IOException {
        packer.packMapHeader(size(event));
        packer.packString("event_id").packLong(id);
        packer.packString("timestamp").packLong(epochMillis);
        packer.packString("event_type").packString(event.stored() ? "stored" : "removed");
        if (config.legacyNames()) {
            packer.packString("type").packString(event.stored() ? "BlockStored" : "BlockRemoved");
        }
        nil(packer, "model_name");
        nil(packer, "block_size");
        nil(packer, "additional_salt");
        nil(packer, "lora_name");
        text(packer.packString("tenant_id"), event.tenant());
        packer.packString("backend_id").packString(config.backendId());
        if (event.group().isEmpty()) {
            nil(packer, "group_id");
        } else {
            text(packer.packString("group_id"), event.group());
        }
        packer.packString("medium").packString("cpu");
        nil(packer, "dp_rank");
        if (config.objectKeys()) {
            text(packer.packString("object_key"), event.key());
        }
        hashes(packer, event);
        place(packer, event);
    }

    private int size(ObjectEvent event) {
        int common = 14;
        int legacy = config.legacyNames() ? 2 + (event.stored() ? 1 : 0) : 0;
        return common + legacy + (config.objectKeys() ? 1 : 0) + (event.stored() ? 2 : 0);
    }

    private void hashes(MessageBufferPacker packer, ObjectEvent event) throws IOException {
        OptionalLong hash = sequenceHash(event.key());
        int count = hash.isPresent() ? 1 : 0;
        packer.packString("seq_hashes").packArrayHeader(count);
        if (hash.isPresent()) {
            unsigned(packer, hash.getAsLong());
        }
        if (config.legacyNames()) {
            packer.packString("block_hashes").packArrayHeader(count);
            if (hash.isPresent()) {
                packer.packLong(hash.getAsLong());
            }
        }
    }

    /** An object is one block, and nobody here knows what is before it. */
    private void place(MessageBufferPacker packer, ObjectEvent event) throws IOException {
        packer.packString("base_block_idx");
        if (!event.stored()) {
            packer.packNil();
            return;
        }
        packer.packInt(0);
        nil(packer, "parent_hash");
        nil(packer, "token_ids");
        if (config.legacyNames()) {
            nil(packer, "parent_block_hash");
        }
    }

    private static void unsigned(MessageBufferPacker packer, long value) throws IOException {
        packer.packBigInteger(new java.math.BigInteger(Long.toUnsignedString(value)));
    }

    private static void nil(MessageBufferPacker packer, String name) throws IOException {
        packer.packString(name).packNil();
    }

    private static void text(org.msgpack.core.MessagePacker packer, ByteString bytes)
            throws IOException {
        packer.packRawStringHeader(bytes.length()).writePayload(bytes.array());
    }

    /** The number of 64 bits that a key is in decimal, or in hexadecimal behind 0x. */
    static OptionalLong sequenceHash(ByteString key) {
        boolean hexadecimal = key.length() > 2 && key.text().startsWith("0x");
        if (key.isEmpty() || key.length() > MOST_DIGITS) {
            return OptionalLong.empty();
        }
        String digits = hexadecimal ? key.text().substring(2) : key.text();
        int radix = hexadecimal ? 16 : 10;
        if (!digits.chars().allMatch(c -> c < 128 && Character.digit(c, radix) >= 0)) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseUnsignedLong(digits, radix));
        } catch (NumberFormatException e) {
            return OptionalLong.empty(); // Above 2^64.
        }
    }
}
