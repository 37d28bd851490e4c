package io.cassia.datadist.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Expect;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RegistrationsTest {
    private final HeapPlane plane = new HeapPlane();
    private final Registrations registrations = new Registrations(plane);
    private final MemorySegment memory = Arena.ofAuto().allocate(4096, 512);

    @Test
    void the_same_memory_is_registered_once_and_until_its_last_user() {
        Expect.ok(registrations.add(List.of(memory)));
        Expect.ok(registrations.add(List.of(memory, memory.asSlice(1024, 1024))));
        assertThat(plane.registered).hasSize(1);
        Expect.ok(registrations.remove(List.of(memory)));
        Expect.ok(registrations.remove(List.of(memory.asSlice(1024, 1024))));
        assertThat(plane.registered).hasSize(1);
        Expect.ok(registrations.remove(List.of(memory)));
        assertThat(plane.registered).isEmpty();
    }

    @Test
    void neighbours_are_registered_apart() {
        Expect.ok(registrations.add(List.of(memory.asSlice(0, 1024), memory.asSlice(1024, 1024))));
        assertThat(plane.registered).hasSize(2);
    }

    @Test
    void memory_that_overlaps_in_part_is_refused_and_the_rest_undone() {
        Expect.ok(registrations.add(List.of(memory.asSlice(1024, 1024))));
        Expect.invalid(
                registrations.add(List.of(memory.asSlice(3072, 512), memory.asSlice(512, 1024))),
                "tensor 1",
                "overlaps");
        Expect.invalid(registrations.add(List.of(memory)), "overlaps");
        Expect.invalid(registrations.add(List.of(memory.asSlice(1536, 1024))), "overlaps");
        assertThat(plane.registered).hasSize(1);
    }

    @Test
    void heap_memory_is_refused() {
        Expect.invalid(registrations.add(List.of(MemorySegment.ofArray(new byte[8]))), "native");
        Expect.invalid(registrations.add(List.of(MemorySegment.NULL)), "native");
    }
}
