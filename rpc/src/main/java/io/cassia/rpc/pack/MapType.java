package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A map in the order of the wire. Immutable. */
record MapType<K, V>(WireType<K> key, WireType<V> value, ByteString literal)
        implements WireType<Map<K, V>> {
    static <K, V> MapType<K, V> of(WireType<K> key, WireType<V> value) {
        ListType.requireBytes(key);
        ByteString literal = TypeLiteral.of(TypeLiteral.MAP, key.literal(), value.literal());
        return new MapType<>(key, value, literal);
    }

    @Override
    public int minBytes() {
        return 1;
    }

    @Override
    public void write(WireWriter writer, Map<K, V> map) {
        if (!writer.size(map.size())) {
            return;
        }
        map.forEach(
                (k, v) -> {
                    key.write(writer, k);
                    value.write(writer, v);
                });
    }

    @Override
    public Map<K, V> read(WireReader reader) {
        int count = reader.count(key.minBytes() + value.minBytes());
        if (count == 0) {
            return Map.of();
        }
        Map<K, V> map = LinkedHashMap.newLinkedHashMap(count);
        for (int i = 0; i < count; i++) {
            K k = key.read(reader);
            if (map.put(k, value.read(reader)) != null) {
                throw new MalformedBodyException("a map with the same key twice");
            }
        }
        return Collections.unmodifiableMap(map);
    }
}
