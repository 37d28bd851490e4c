package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;

/** What tests of engines need again and again. Immutable. */
final class Peers {
    static final Duration DEADLINE = Duration.ofSeconds(60);

    private Peers() {}

    /** Reached by sockets, also by engines of this process. */
    static TransferConfig overTcp() {
        return TransferConfig.p2p("127.0.0.1").withTransports(Set.of(Transport.TCP));
    }

    static TransferEngine engine(TransferConfig config) {
        return TransferEngine.start(config, Clock.system(), new SimpleMeterRegistry()).orThrow();
    }

    static void fill(MemorySegment memory, long seed) {
        byte[] bytes = new byte[Math.toIntExact(memory.byteSize())];
        new Random(seed).nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
    }

    static long crc(MemorySegment memory) {
        CRC32C crc = new CRC32C();
        for (long at = 0; at < memory.byteSize(); at += 1 << 30) {
            crc.update(
                    memory.asSlice(at, Math.min(1 << 30, memory.byteSize() - at)).asByteBuffer());
        }
        return crc.getValue();
    }

    /** Waits for what another thread or process does. */
    static void eventually(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not within " + DEADLINE + ": " + what);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }
}
