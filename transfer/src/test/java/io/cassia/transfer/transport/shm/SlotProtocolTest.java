package io.cassia.transfer.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.transfer.memory.ProcessCalls;
import java.io.BufferedReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Both sides of a control file on memory of this process; who lives is what the test says. */
final class SlotProtocolTest {
    private static final ProcessId OWNER = new ProcessId(1, 11);
    private static final ProcessId PEER = new ProcessId(2, 22);

    private final Arena arena = Arena.ofShared();
    private final MemorySegment control = arena.allocate(ControlLayout.LENGTH_BYTES, 64);
    private final Set<ProcessId> dead = new HashSet<>();
    private int growths = Integer.MAX_VALUE;
    private final OwnSlots slots =
            new OwnSlots(control, OWNER, this::isAlive, (offset, length) -> growths-- > 0);

    @AfterEach
    void free() {
        arena.close();
    }

    private boolean isAlive(ProcessId process) {
        return !dead.contains(process);
    }

    private Holds holds(ProcessId process) {
        return Holds.claim(control, process, this::isAlive).orElseThrow();
    }

    private SlotIndex.Slot slot(long address) {
        SlotIndex.Slot found = SlotIndex.read(control).find(address, 1);
        assertThat(found).isNotNull();
        return Objects.requireNonNull(found);
    }

    private long owner(int row) {
        return ControlLayout.get(control, ControlLayout.row(row));
    }

    @Test
    void copies_keep_a_slot_busy_until_the_last_has_left() {
        int number = slots.add(1000, 100, 3, 4096, true);
        Holds holds = holds(PEER);
        SlotIndex.Slot slot = slot(1000);
        assertThat(slot).isEqualTo(new SlotIndex.Slot(number, slot.word(), 1000, 100, 3, 4096));
        int first = holds.enter(number, slot.word());
        int second = holds.enter(number, slot.word());
        assertThat(first).isNotEqualTo(second).isNotNegative();
        assertThat(second).isNotNegative();
        slots.drain(number);
        assertThat(holds.enter(number, slot.word())).isEqualTo(Holds.STALE);
        assertThat(slots.isQuiet(number, true)).isFalse();
        holds.leave(first);
        assertThat(slots.isQuiet(number, true)).isFalse();
        holds.leave(second);
        assertThat(slots.isQuiet(number, true)).isTrue();
        assertThat(SlotIndex.read(control).find(1000, 1)).isNull();
    }

    @Test
    void slot_that_is_taken_anew_is_another_one() {
        int number = slots.add(1000, 100, 0, 0, true);
        SlotIndex.Slot before = slot(1000);
        SlotIndex outdated = SlotIndex.read(control);
        slots.drain(number);
        slots.free(number);
        assertThat(slots.add(1000, 100, 0, 0, false)).isEqualTo(number);
        Holds holds = holds(PEER);
        assertThat(holds.enter(number, before.word())).isEqualTo(Holds.STALE);
        assertThat(outdated.isCurrent(control)).isFalse();
        SlotIndex.Slot after = slot(1000);
        assertThat(before.isWritable()).isTrue();
        assertThat(after.isWritable()).isFalse();
        assertThat(holds.enter(number, after.word())).isNotNegative();
    }

    @Test
    void what_a_dead_process_holds_is_void_and_what_a_living_one_holds_is_not() {
        int number = slots.add(1000, 100, 0, 0, true);
        long word = slot(1000).word();
        Holds killed = holds(PEER);
        Holds living = holds(new ProcessId(2, 23));
        assertThat(killed.enter(number, word)).isNotNegative();
        int cell = living.enter(number, word);
        slots.drain(number);
        dead.add(PEER);
        // Not asked, so not known.
        assertThat(slots.isQuiet(number, false)).isFalse();
        assertThat(slots.isQuiet(number, true)).isFalse();
        assertThat(owner(0)).isZero();
        living.leave(cell);
        assertThat(slots.isQuiet(number, false)).isTrue();
    }

    @Test
    void row_of_a_dead_process_is_taken_when_no_other_is_free() {
        int number = slots.add(1000, 100, 0, 0, true);
        long word = slot(1000).word();
        for (int i = 0; i < ControlLayout.ROWS; i++) {
            Holds holds = holds(new ProcessId(100 + i, 1));
            assertThat(holds.enter(number, word)).isNotNegative();
        }
        assertThat(Holds.claim(control, PEER, this::isAlive)).isEmpty();
        dead.add(new ProcessId(107, 1));
        Holds taken = holds(PEER);
        assertThat(owner(7)).isEqualTo(PEER.word());
        taken.release();
        assertThat(owner(7)).isZero();
        slots.drain(number);
        assertThat(slots.isQuiet(number, true)).isFalse();
        for (int i = 0; i < ControlLayout.ROWS; i++) {
            dead.add(new ProcessId(100 + i, 1));
        }
        assertThat(slots.isQuiet(number, true)).isTrue();
    }

    @Test
    void more_copies_than_cells_are_refused_and_no_cell_is_lost() {
        int number = slots.add(1000, 100, 0, 0, true);
        long word = slot(1000).word();
        Holds holds = holds(PEER);
        for (int round = 0; round < 2; round++) {
            List<Integer> cells = new ArrayList<>();
            for (int i = 0; i < ControlLayout.CELLS; i++) {
                cells.add(holds.enter(number, word));
            }
            assertThat(cells).doesNotHaveDuplicates().allMatch(cell -> cell >= 0);
            assertThat(holds.enter(number, word)).isEqualTo(Holds.FULL);
            cells.forEach(holds::leave);
        }
        slots.drain(number);
        for (int i = 0; i < 2 * ControlLayout.CELLS; i++) {
            assertThat(holds.enter(number, word)).isEqualTo(Holds.STALE);
        }
        assertThat(slots.isQuiet(number, false)).isTrue();
    }

    @Test
    void buffers_without_memory_for_a_slot_are_counted() {
        growths = 1;
        int room = ControlLayout.FIRST_SLOTS + ControlLayout.SLOT_STEP;
        for (int i = 0; i < room; i++) {
            assertThat(slots.add(1000L + i, 1, 0, 0, true)).isEqualTo(i);
        }
        assertThat(SlotIndex.read(control).isComplete()).isTrue();
        assertThat(slots.add(1, 1, 0, 0, true)).isNegative();
        assertThat(SlotIndex.read(control).isComplete()).isFalse();
        assertThat(SlotIndex.read(control).find(1, 1)).isNull();
        slots.removeUnslotted();
        assertThat(SlotIndex.read(control).isComplete()).isTrue();
        slots.drain(5);
        slots.free(5);
        assertThat(slots.add(1, 1, 0, 0, true)).isEqualTo(5);
    }

    @Test
    void ranges_are_found_by_unsigned_addresses_and_only_whole() {
        slots.add(-4096, 4096, 0, 0, true);
        slots.add(Long.MAX_VALUE - 9, 20, 0, 0, true);
        slots.add(16, 16, 0, 0, true);
        slots.add(32, 16, 0, 0, true);
        SlotIndex index = SlotIndex.read(control);
        assertThat(index.find(-4096, 4096)).isNotNull();
        assertThat(index.find(-1, 1)).isNotNull();
        // Past the end of all addresses.
        assertThat(index.find(-1, 2)).isNull();
        assertThat(index.find(-4097, 2)).isNull();
        assertThat(index.find(Long.MAX_VALUE - 9, 20)).isNotNull();
        assertThat(index.find(Long.MIN_VALUE, 10)).isNotNull();
        assertThat(index.find(Long.MIN_VALUE, 11)).isNull();
        assertThat(index.find(16, 16)).isNotNull();
        // Neighbours do not make one buffer.
        assertThat(index.find(16, 17)).isNull();
        assertThat(index.find(31, 2)).isNull();
        assertThat(index.find(15, 1)).isNull();
        assertThat(index.find(47, 1)).isNotNull();
        assertThat(index.find(48, 1)).isNull();
        assertThat(index.find(40, -1)).isNull();
    }

    @Test
    void processes_are_told_apart_by_their_start() {
        ProcessId own = ProcessId.own().orElseThrow();
        assertThat(own.pid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(own.isInTable()).isTrue();
        assertThat(ProcessId.of(own.word())).contains(own);
        assertThat(ProcessId.of(0)).isEmpty();
        ProcessId namesake = new ProcessId(own.pid(), own.startTicks() + 1);
        assertThat(namesake.isInTable()).isFalse();
        assertThat(namesake.word()).isNotEqualTo(own.word());
        ProcessCalls calls = ProcessCalls.find().orElseThrow();
        assertThat(ProcessWatch.isAlive(own, calls)).isTrue();
        assertThat(ProcessWatch.isAlive(namesake, calls)).isFalse();
    }

    @Test
    void end_of_a_process_is_noticed_before_its_parent_buries_it() throws Exception {
        ProcessCalls calls = ProcessCalls.find().orElseThrow();
        // Its child is killed and stays in the process table as long as the shell sleeps.
        Process shell = new ProcessBuilder("sh", "-c", "sleep 60 & echo $!; exec sleep 60").start();
        try (BufferedReader lines = shell.inputReader()) {
            long pid = Long.parseLong(lines.readLine());
            // The shell itself would bury it; the program that takes its place does not.
            Path command = Path.of("/proc", Long.toString(shell.pid()), "comm");
            eventually(() -> Files.readString(command).startsWith("sleep"));
            ProcessId process = ProcessId.find(pid).orElseThrow();
            try (ProcessWatch watch = ProcessWatch.over(process, calls).orElseThrow()) {
                assertThat(watch.hasEnded()).isFalse();
                assertThat(ProcessHandle.of(pid).orElseThrow().destroyForcibly()).isTrue();
                eventually(watch::hasEnded);
                assertThat(ProcessId.find(pid)).contains(process);
                assertThat(process.isInTable()).isFalse();
                assertThat(ProcessWatch.isAlive(process, calls)).isFalse();
            }
        } finally {
            shell.destroyForcibly();
        }
    }

    private static void eventually(Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime() - deadline).isNegative();
            LockSupport.parkNanos(1_000_000);
        }
    }
}
