package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Readers and writers run while the buffers under them come and go. Bytes that belong to nobody any
 * more are scribbled over at once: whoever reads them, or writes among them, was let in too late.
 */
final class UnregisterStressTest {
    private static final int BUFFER_BYTES = 256 << 10;
    private static final byte GOOD = 5;
    private static final byte GONE = 99;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void no_byte_moves_in_memory_that_is_not_registered(boolean localCopies) throws Exception {
        TransferConfig config =
                TransferConfig.p2p("127.0.0.1")
                        .withLocalCopies(localCopies)
                        .withTimeouts(
                                TransferConfig.Timeouts.DEFAULT.withDrain(Duration.ofMillis(5)));
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong completed = new AtomicLong();
        Set<Code> failures = ConcurrentHashMap.newKeySet();
        Set<String> wrong = ConcurrentHashMap.newKeySet();
        try (TransferEngine target = Peers.engine(config);
                TransferEngine initiator = Peers.engine(config);
                Arena arena = Arena.ofShared()) {
            SegmentHandle handle = initiator.openSegment(target.localName()).orThrow();
            MemorySegment memory = arena.allocate(BUFFER_BYTES, 4096);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                Random random = new Random(t);
                MemorySegment local = arena.allocate(BUFFER_BYTES);
                threads.add(
                        Thread.ofPlatform()
                                .start(
                                        () -> {
                                            while (!stop.get()) {
                                                move(
                                                        initiator, handle, memory, local, random,
                                                        completed, failures, wrong);
                                            }
                                        }));
            }
            int rounds = 0;
            long end = System.nanoTime() + Duration.ofMillis(1500).toNanos();
            while (System.nanoTime() < end || completed.get() < 100) {
                memory.fill(GOOD);
                RegisteredBuffer buffer = target.register(memory, BufferOptions.DEFAULT).orThrow();
                long before = completed.get();
                while (completed.get() < before + 20 && System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
                assertThat(target.unregister(buffer).isOk()).isTrue();
                assertThat(buffer.state()).isEqualTo(RegisteredBuffer.State.CLOSED);
                memory.fill(GONE);
                for (long at = 0; at < BUFFER_BYTES; at++) {
                    if (memory.get(ValueLayout.JAVA_BYTE, at) != GONE) {
                        wrong.add("written at " + at);
                    }
                }
                rounds++;
            }
            stop.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(rounds).isGreaterThan(1);
        }
        assertThat(wrong).isEmpty();
        // An aborted connection is retried once, and may be aborted again.
        assertThat(failures)
                .isSubsetOf(
                        EnumSet.of(
                                TransferCode.ERR_ADDRESS_NOT_REGISTERED, TransferCode.ERR_SOCKET));
    }

    private static void move(
            TransferEngine initiator,
            SegmentHandle handle,
            MemorySegment memory,
            MemorySegment local,
            Random random,
            AtomicLong completed,
            Set<Code> failures,
            Set<String> wrong) {
        List<TransferRequest> requests = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int length = 1 + random.nextInt(BUFFER_BYTES / 8);
            MemorySegment slice = local.asSlice(i * (BUFFER_BYTES / 8L), length);
            boolean write = random.nextInt(4) == 0;
            slice.fill(write ? GOOD : 0);
            requests.add(
                    new TransferRequest(
                            write ? Opcode.WRITE : Opcode.READ,
                            slice,
                            handle,
                            memory.address() + random.nextInt(BUFFER_BYTES - length)));
        }
        List<Outcome<Done>> outcomes = initiator.transfer(requests, Peers.DEADLINE);
        for (int i = 0; i < requests.size(); i++) {
            switch (outcomes.get(i)) {
                case Outcome.Failed<Done> failed -> failures.add(failed.code());
                case Outcome.Ok<Done> ok -> {
                    completed.incrementAndGet();
                    for (byte b : requests.get(i).local().toArray(ValueLayout.JAVA_BYTE)) {
                        if (b != GOOD) {
                            wrong.add("read " + b);
                        }
                    }
                }
            }
        }
    }
}
