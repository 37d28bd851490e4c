package io.cassia.datadist.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.ManualClock;
import io.cassia.status.Outcome;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the book hands out is its caller's. */
final class CacheBookTest {
    @Test
    void a_list_of_freed_memory_does_not_grow_when_it_was_taken() {
        CacheBook book = new CacheBook(new CacheTable(new ManualClock()));
        CacheDesc desc = CacheDesc.device(1, DataType.INT8, 1, 64);
        NewCache made =
                new NewCache(
                        desc,
                        desc.geometry().orThrow(),
                        CacheOrigin.ALLOCATED,
                        false,
                        List.of(Arena.ofAuto().allocate(64)),
                        List.of(),
                        Optional.empty(),
                        Outcome::done);
        CacheEntry entry =
                Objects.requireNonNull(book.find(book.add(made, 0).orThrow().cacheId()));
        List<CacheEntry> before = book.freed();
        book.dropNumber(entry, true);
        // One thread walks over the list that it was given while another one frees.
        assertThat(before).isEmpty();
        assertThat(book.freed()).containsExactly(entry);
        assertThat(book.freed()).isEmpty();
    }
}
