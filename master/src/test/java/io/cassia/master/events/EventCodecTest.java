package io.cassia.master.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.master.core.ObjectEvent;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.msgpack.core.MessagePack;

class EventCodecTest {
    private static final ByteString TENANT = ByteString.of("default");

    private static KvEventsConfig config(boolean legacy, boolean keys) {
        return new KvEventsConfig("tcp://127.0.0.1:*", "b", legacy, keys, 10);
    }

    private static String json(KvEventsConfig config, ObjectEvent... events) throws IOException {
        byte[] bytes = new EventCodec(config).encode(List.of(events), 7, 1234);
        return MessagePack.newDefaultUnpacker(bytes).unpackValue().toJson();
    }

    private static ObjectEvent event(boolean stored, String key, String group) {
        return new ObjectEvent(stored, TENANT, ByteString.of(key), ByteString.of(group));
    }

    @Test
    void a_stored_object_with_all_fields() throws IOException {
        assertThat(json(config(true, true), event(true, "12", "g")))
                .isEqualTo(
                        "[1234,[{\"event_id\":7,\"timestamp\":1234,\"event_type\":\"stored\","
                                + "\"type\":\"BlockStored\",\"model_name\":null,"
                                + "\"block_size\":null,\"additional_salt\":null,"
                                + "\"lora_name\":null,\"tenant_id\":\"default\","
                                + "\"backend_id\":\"b\",\"group_id\":\"g\",\"medium\":\"cpu\","
                                + "\"dp_rank\":null,\"object_key\":\"12\",\"seq_hashes\":[12],"
                                + "\"block_hashes\":[12],\"base_block_idx\":0,"
                                + "\"parent_hash\":null,\"token_ids\":null,"
                                + "\"parent_block_hash\":null}],0]");
    }

    @Test
    void removed_objects_without_the_older_names_and_keys() throws IOException {
        assertThat(
                        json(
                                config(false, false),
                                event(false, "0xffffffffffffffff", ""),
                                event(false, "1", "")))
                .isEqualTo(
                        "[1234,[{\"event_id\":7,\"timestamp\":1234,\"event_type\":\"removed\","
                                + "\"model_name\":null,\"block_size\":null,"
                                + "\"additional_salt\":null,\"lora_name\":null,"
                                + "\"tenant_id\":\"default\",\"backend_id\":\"b\","
                                + "\"group_id\":null,\"medium\":\"cpu\",\"dp_rank\":null,"
                                + "\"seq_hashes\":[18446744073709551615],"
                                + "\"base_block_idx\":null},{\"event_id\":8,\"timestamp\":1234,"
                                + "\"event_type\":\"removed\",\"model_name\":null,"
                                + "\"block_size\":null,\"additional_salt\":null,"
                                + "\"lora_name\":null,\"tenant_id\":\"default\","
                                + "\"backend_id\":\"b\",\"group_id\":null,\"medium\":\"cpu\","
                                + "\"dp_rank\":null,\"seq_hashes\":[1],"
                                + "\"base_block_idx\":null}],0]");
    }

    @Test
    void both_mixed_forms_are_whole_maps() throws IOException {
        assertThat(json(config(true, false), event(false, "k", "")))
                .contains("\"seq_hashes\":[],\"block_hashes\":[],\"base_block_idx\":null}");
        assertThat(json(config(false, true), event(true, "k", "")))
                .contains("\"object_key\":\"k\",\"seq_hashes\":[],\"base_block_idx\":0")
                .endsWith("\"token_ids\":null}],0]");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "18446744073709551615, -1",
        "0x10, 16",
        "0xFFFFFFFFFFFFFFFF, -1",
        "18446744073709551616,",
        "0x1ffffffffffffffff,",
        "0x,",
        "-1,",
        "+1,",
        "1a,",
        "٣,",
        "12 ,12",
        "k,",
    })
    void keys_that_are_numbers_have_a_hash(String key, String hash) {
        assertThat(EventCodec.sequenceHash(ByteString.of(key.strip())).stream().boxed().toList())
                .isEqualTo(hash == null ? List.of() : List.of(Long.parseLong(hash)));
    }
}
