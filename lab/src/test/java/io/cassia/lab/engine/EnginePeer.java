package io.cassia.lab.engine;

import io.cassia.base.Clock;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.Region;
import io.cassia.transfer.RegisteredBuffer;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * The main of a process that offers memory. Confined to its main thread.
 *
 * <p>Arguments: region bytes, handshake port, data port (0: any). It prints {@code segment
 * address}, then answers the line {@code crc OFFSET LENGTH} with a number, until its input ends.
 */
final class EnginePeer {
    private EnginePeer() {}

    public static void main(String[] args) throws IOException {
        TransferConfig config =
                TransferConfig.p2p("127.0.0.1")
                        .withPorts(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        try (TransferEngine engine =
                        TransferEngine.start(config, Clock.system(), new SimpleMeterRegistry())
                                .orThrow();
                Region region = engine.allocate(Long.parseLong(args[0])).orThrow();
                RegisteredBuffer buffer =
                        engine.register(region.memory(), BufferOptions.DEFAULT).orThrow();
                BufferedReader in =
                        new BufferedReader(
                                new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            say(engine.localName() + " " + Long.toUnsignedString(buffer.address()));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ", -1);
                MemorySegment asked =
                        region.memory().asSlice(Long.parseLong(words[1]), Long.parseLong(words[2]));
                say(Long.toString(crc(asked)));
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    static long crc(MemorySegment memory) {
        CRC32C crc = new CRC32C();
        for (long at = 0; at < memory.byteSize(); at += 1 << 30) {
            crc.update(
                    memory.asSlice(at, Math.min(1 << 30, memory.byteSize() - at)).asByteBuffer());
        }
        return crc.getValue();
    }
}
