package io.cassia.transfer.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * Threads that play processes use slots while the owner takes them back. What belongs to nobody is
 * scribbled over at once: whoever sees that, or writes among it, was let in too late or left too
 * late.
 */
final class SlotStressTest {
    private static final int SLOTS = 4;
    private static final int WORDS = 64;
    private static final long BUFFER_BYTES = WORDS * 8L;
    private static final long GOOD = 5;
    private static final long GONE = 99;

    private final Set<String> wrong = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicLong copies = new AtomicLong();

    @Test
    void nobody_is_inside_a_slot_that_was_taken_back() throws InterruptedException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment control = arena.allocate(ControlLayout.LENGTH_BYTES, 64);
            MemorySegment memory = arena.allocate(SLOTS * BUFFER_BYTES, 64);
            OwnSlots owner = new OwnSlots(control, new ProcessId(1, 1), _ -> true, (_, _) -> false);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int number = i;
                threads.add(Thread.ofPlatform().start(() -> use(control, memory, number)));
            }
            Random random = new Random(1);
            long end = System.nanoTime() + Duration.ofMillis(800).toNanos();
            int rounds = 0;
            while (System.nanoTime() < end || copies.get() < 1000) {
                int at = random.nextInt(SLOTS);
                MemorySegment buffer = memory.asSlice(at * BUFFER_BYTES, BUFFER_BYTES);
                fill(buffer, GOOD);
                int slot = owner.add(buffer.address(), buffer.byteSize(), 0, 0, true);
                for (int i = random.nextInt(3); i > 0; i--) {
                    LockSupport.parkNanos(1);
                }
                owner.drain(slot);
                while (!owner.isQuiet(slot, false)) {
                    LockSupport.parkNanos(1);
                }
                fill(buffer, GONE);
                for (int i = 0; i < WORDS; i++) {
                    check(buffer, i, GONE);
                }
                owner.free(slot);
                rounds++;
            }
            stop.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(rounds).isGreaterThan(1);
        }
        assertThat(wrong).isEmpty();
    }

    private void use(MemorySegment control, MemorySegment memory, int number) {
        Holds holds = Holds.claim(control, new ProcessId(10 + number, 1), _ -> true).orElseThrow();
        Random random = new Random(number);
        SlotIndex index = SlotIndex.read(control);
        while (!stop.get()) {
            MemorySegment buffer =
                    memory.asSlice(random.nextInt(SLOTS) * BUFFER_BYTES, BUFFER_BYTES);
            SlotIndex.Slot slot = index.find(buffer.address(), buffer.byteSize());
            int cell = slot == null ? Holds.STALE : holds.enter(slot.number(), slot.word());
            if (slot == null || cell < 0) {
                index = SlotIndex.read(control);
                LockSupport.parkNanos(1);
                continue;
            }
            for (int i = 0; i < WORDS; i++) {
                if (number == 0) {
                    buffer.setAtIndex(ValueLayout.JAVA_LONG, i, GOOD);
                } else {
                    check(buffer, i, GOOD);
                }
            }
            holds.leave(cell);
            copies.incrementAndGet();
        }
        holds.release();
    }

    private void check(MemorySegment buffer, int word, long expected) {
        long found = buffer.getAtIndex(ValueLayout.JAVA_LONG, word);
        if (found != expected) {
            wrong.add("found %d instead of %d".formatted(found, expected));
        }
    }

    private static void fill(MemorySegment buffer, long value) {
        for (int i = 0; i < WORDS; i++) {
            buffer.setAtIndex(ValueLayout.JAVA_LONG, i, value);
        }
    }
}
