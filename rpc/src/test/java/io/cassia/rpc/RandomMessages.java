package io.cassia.rpc;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;

/** Values for any message type, made from a seed. Confined to one test. */
final class RandomMessages {
    private final Random random;

    RandomMessages(long seed) {
        this.random = new Random(seed);
    }

    Object of(Type type) {
        return switch (type) {
            case ParameterizedType generic ->
                    generic((Class<?>) generic.getRawType(), generic.getActualTypeArguments());
            case Class<?> plain -> plain(plain);
            default -> throw new IllegalArgumentException("no values of " + type);
        };
    }

    private Object generic(Class<?> raw, Type[] arguments) {
        if (raw == List.class) {
            List<Object> list = new ArrayList<>();
            for (int i = random.nextInt(4); i > 0; i--) {
                list.add(of(arguments[0]));
            }
            return list;
        }
        if (raw == Map.class) {
            Map<Object, Object> map = new LinkedHashMap<>();
            for (int i = random.nextInt(4); i > 0; i--) {
                map.put(of(arguments[0]), of(arguments[1]));
            }
            return map;
        }
        if (raw == Optional.class) {
            return random.nextBoolean() ? Optional.empty() : Optional.of(of(arguments[0]));
        }
        if (raw == Outcome.class) {
            return random.nextInt(3) == 0
                    ? Outcome.failed(
                            StoreCode.OBJECT_NOT_FOUND, "m answered OBJECT_NOT_FOUND(-704)")
                    : Outcome.ok(of(arguments[0]));
        }
        throw new IllegalArgumentException("no values of " + raw);
    }

    private Object plain(Class<?> type) {
        if (type == long.class || type == Long.class) {
            return random.nextLong();
        }
        if (type == int.class || type == Integer.class) {
            // Enums have one byte in places.
            return random.nextInt(128);
        }
        if (type == boolean.class || type == Boolean.class) {
            return random.nextBoolean();
        }
        if (type == String.class) {
            return "s\u00e9\u4e2d".repeat(random.nextInt(3) * (random.nextInt(20) == 0 ? 40 : 1));
        }
        if (type == ByteString.class) {
            byte[] bytes = new byte[random.nextInt(20) == 0 ? 300 : random.nextInt(10)];
            random.nextBytes(bytes);
            return ByteString.wrap(bytes);
        }
        if (type == OptionalLong.class) {
            return random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(random.nextLong());
        }
        if (type == Done.class) {
            return Done.DONE;
        }
        if (type == Placement.class) {
            Class<?>[] alternatives = Placement.class.getPermittedSubclasses();
            return plain(alternatives[random.nextInt(alternatives.length)]);
        }
        return message(type);
    }

    private Object message(Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] values = new Object[components.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = of(components[i].getGenericType());
        }
        Class<?>[] types =
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(types);
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("a message that cannot be made", e);
        }
    }
}
