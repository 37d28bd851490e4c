package io.cassia.rpc.pack;

import java.util.Arrays;
import java.util.HexFormat;

/** Bodies as hexadecimal text, for tests. */
public final class Packed {
    private Packed() {}

    public static <T> byte[] withLiteral(WireBody<T> body, T value) {
        WireWriter writer = new WireWriter(0, 1 << 28);
        body.write(writer, value);
        return Arrays.copyOf(writer.array(), writer.position());
    }

    public static <T> byte[] shortForm(WireBody<T> body, T value) {
        WireWriter writer = new WireWriter(0, 1 << 28);
        body.writeShort(writer, value);
        return Arrays.copyOf(writer.array(), writer.position());
    }

    public static <T> T read(WireBody<T> body, byte[] bytes) {
        return body.read(new WireReader().reset(bytes, 0, bytes.length));
    }

    public static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    public static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }
}
