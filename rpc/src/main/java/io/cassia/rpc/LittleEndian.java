package io.cassia.rpc;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Fixed-width numbers of frame headers. Immutable. */
final class LittleEndian {
    private static final VarHandle SHORT =
            MethodHandles.byteArrayViewVarHandle(short[].class, LITTLE_ENDIAN);
    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, LITTLE_ENDIAN);

    private LittleEndian() {}

    static int u16(byte[] bytes, int at) {
        return (short) SHORT.get(bytes, at) & 0xffff;
    }

    static int i32(byte[] bytes, int at) {
        return (int) INT.get(bytes, at);
    }

    static void i32(byte[] bytes, int at, int value) {
        INT.set(bytes, at, value);
    }
}
