package io.cassia.datadist.cache;

import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.Locale;

/** Element types of KV caches. Immutable. */
public enum DataType {
    FLOAT32(4),
    FLOAT16(2),
    BF16(2),
    INT8(1),
    INT16(2),
    UINT16(2),
    UINT8(1),
    INT32(4),
    INT64(8),
    UINT32(4),
    UINT64(8),
    BOOL(1),
    DOUBLE(8);

    private final int bytes;

    DataType(int bytes) {
        this.bytes = bytes;
    }

    /** Size of one element in bytes. */
    public int bytes() {
        return bytes;
    }

    /**
     * The type with this name, in any case; also the {@code DT_} names of the C++ API. {@code
     * LLM_PARAM_INVALID} for a name that is none.
     */
    public static Outcome<DataType> parse(String name) {
        String plain = name.toUpperCase(Locale.ROOT);
        if (plain.startsWith("DT_")) {
            plain = plain.substring(3);
        }
        if (plain.equals("FLOAT")) {
            return Outcome.ok(FLOAT32);
        }
        for (DataType type : values()) {
            if (type.name().equals(plain)) {
                return Outcome.ok(type);
            }
        }
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, "data type '" + name + "' is unknown");
    }
}
