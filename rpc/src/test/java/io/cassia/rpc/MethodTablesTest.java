package io.cassia.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.cassia.CheckedMethods;
import io.cassia.rpc.cassia.ReservedMethods;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.pack.MalformedBodyException;
import io.cassia.rpc.pack.Packed;
import io.cassia.rpc.pack.WireBody;
import io.cassia.rpc.pack.WireReader;
import io.cassia.testkit.Seeds;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The method tables: pinned numbers, and every message there and back. */
class MethodTablesTest {
    /** A method with the Java types of its declaration. */
    private record Declared(RpcMethod<?, ?> method, Type arguments, Type result) {}

    private static List<Declared> declared() {
        List<Declared> all = new ArrayList<>();
        for (Class<?> table :
                List.of(
                        MasterMethods.class,
                        CassiaMethods.class,
                        CheckedMethods.class,
                        ReservedMethods.class)) {
            for (Field field : table.getFields()) {
                if (field.getType() == RpcMethod.class) {
                    Type[] types =
                            ((ParameterizedType) field.getGenericType()).getActualTypeArguments();
                    try {
                        all.add(
                                new Declared(
                                        (RpcMethod<?, ?>) field.get(null), types[0], types[1]));
                    } catch (IllegalAccessException e) {
                        throw new LinkageError("a public constant", e);
                    }
                }
            }
        }
        return all;
    }

    @Test
    void numbers_and_hashes_of_all_methods_are_pinned() throws IOException {
        StringBuilder actual = new StringBuilder();
        for (Declared each : declared()) {
            actual.append(
                    "%s %08x %08x %08x%n"
                            .formatted(
                                    each.method().name(),
                                    each.method().functionId(),
                                    each.method().arguments().hash(),
                                    each.method().result().hash()));
        }
        try (var pinned = MethodTablesTest.class.getResourceAsStream("methods.txt")) {
            assertThat(pinned).isNotNull();
            assertThat(actual.toString().lines())
                    .containsExactlyInAnyOrderElementsOf(
                            new String(pinned.readAllBytes(), StandardCharsets.UTF_8)
                                    .lines()
                                    .toList());
        }
    }

    @Test
    void the_release_has_64_master_methods_and_2_of_peers() {
        assertThat(MasterMethods.RELEASE.name()).isEqualTo("mooncake-0.3.12");
        assertThat(MasterMethods.RELEASE.serviceVersion()).isEqualTo("2.0.0");
        assertThat(MasterMethods.RELEASE.methods()).hasSize(66);
        Set<Integer> ids = new HashSet<>();
        declared().forEach(each -> ids.add(each.method().functionId()));
        assertThat(ids).hasSize(declared().size()).hasSize(88);
    }

    @Test
    void every_message_comes_back_as_it_was_written() {
        List<Declared> methods = declared();
        Seeds.forEach(
                40,
                seed -> {
                    for (Declared each : methods) {
                        RandomMessages messages = new RandomMessages(seed);
                        roundTrip(each.method().arguments(), messages.of(each.arguments()), each);
                        roundTrip(each.method().result(), messages.of(each.result()), each);
                    }
                });
    }

    @SuppressWarnings("unchecked") // The value was made for the body's declared type.
    private static <T> void roundTrip(WireBody<T> body, Object value, Declared of) {
        byte[] bytes = Packed.withLiteral(body, (T) value);
        WireReader reader = new WireReader().reset(bytes, 0, bytes.length).from("m", null);
        assertThat(body.read(reader)).as(of.method().name()).isEqualTo(value);
        assertThat(reader.remaining()).isZero();
    }

    @Test
    void changed_messages_are_read_or_refused() {
        List<Declared> methods = declared();
        Seeds.forEach(
                100,
                seed -> {
                    Random random = new Random(seed);
                    Declared each = methods.get(random.nextInt(methods.size()));
                    Object value = new RandomMessages(seed).of(each.result());
                    mutate(each.method().result(), value, random);
                });
    }

    @SuppressWarnings("unchecked") // The value was made for the body's declared type.
    private static <T> void mutate(WireBody<T> body, Object value, Random random) {
        byte[] bytes = Packed.withLiteral(body, (T) value);
        for (int i = 0; i < 50; i++) {
            byte[] changed = bytes.clone();
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            try {
                T _ = Packed.read(body, changed);
            } catch (MalformedBodyException e) {
                assertThat(e).hasMessageContaining(" ");
            }
        }
    }
}
