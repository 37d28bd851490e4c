package io.cassia.rpc.pack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.cassia.testkit.Seeds;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random types with random values: what is written is read, and nothing else is believed. */
class WireTypePropertyTest {
    private static final int CASES = 3000;

    @Test
    void what_is_written_is_read_in_both_forms() {
        Seeds.forEach(CASES, seed -> roundTrip(seed, new RandomTypes(seed).any()));
    }

    private static <T> void roundTrip(long seed, RandomTypes.Sample<T> sample) {
        WireBody<T> body = WireBody.of(sample.type());
        T value = sample.values().get();
        byte[] longForm = Packed.withLiteral(body, value);
        byte[] shortForm = Packed.shortForm(body, value);
        assertThat(read(body, longForm)).as("seed %s", seed).isEqualTo(value);
        assertThat(read(body, shortForm)).as("seed %s", seed).isEqualTo(value);
        assertThat(Packed.withLiteral(body, read(body, shortForm)))
                .as("seed %s", seed)
                .isEqualTo(longForm);
        assertThat(shortForm.length - 4)
                .as("seed %s: shortest possible", seed)
                .isGreaterThanOrEqualTo(sample.type().minBytes());
    }

    private static <T> T read(WireBody<T> body, byte[] bytes) {
        WireReader reader = new WireReader().reset(bytes, 0, bytes.length).from("m", null);
        T value = body.read(reader);
        assertThat(reader.remaining()).isZero();
        return value;
    }

    @Test
    void a_truncated_body_is_refused() {
        Seeds.forEach(
                CASES / 4,
                seed -> {
                    Random random = new Random(seed);
                    RandomTypes.Sample<?> sample = new RandomTypes(seed).any();
                    byte[] bytes = written(sample);
                    int cut = random.nextInt(bytes.length);
                    byte[] less = Arrays.copyOf(bytes, cut);
                    if (readOrRefuse(sample.type(), less)) {
                        fail("seed " + seed + ": " + cut + " of " + bytes.length + " were enough");
                    }
                });
    }

    @Test
    void changed_bytes_lead_to_a_value_or_a_refusal_and_to_nothing_else() {
        Seeds.forEach(
                CASES,
                seed -> {
                    Random random = new Random(seed);
                    RandomTypes.Sample<?> sample = new RandomTypes(seed).any();
                    byte[] bytes = written(sample);
                    for (int i = 1 + random.nextInt(4); i > 0; i--) {
                        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                    }
                    boolean _ = readOrRefuse(sample.type(), bytes);
                });
    }

    @Test
    void wild_counts_are_refused_before_memory_is_taken() {
        Seeds.forEach(
                CASES,
                seed -> {
                    RandomTypes.Sample<?> sample = new RandomTypes(seed).any();
                    int head = WireBody.of(sample.type()).hash();
                    byte[] bytes = new byte[64];
                    new Random(seed).nextBytes(bytes);
                    Arrays.fill(bytes, 5, 13, (byte) 0xff);
                    bytes[12] = (byte) (seed % 2 == 0 ? 0x7f : 0);
                    bytes[4] = 0x18;
                    for (int i = 0; i < 4; i++) {
                        bytes[i] = (byte) ((head | 1) >> (8 * i));
                    }
                    boolean _ = readOrRefuse(sample.type(), bytes);
                });
    }

    private static <T> byte[] written(RandomTypes.Sample<T> sample) {
        WireBody<T> body = WireBody.of(sample.type());
        return Packed.withLiteral(body, sample.values().get());
    }

    private static <T> boolean readOrRefuse(WireType<T> type, byte[] bytes) {
        try {
            T _ = Packed.read(WireBody.of(type), bytes);
            return true;
        } catch (MalformedBodyException e) {
            return false;
        }
    }
}
