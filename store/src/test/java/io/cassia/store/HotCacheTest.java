package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaStatus;
import io.cassia.transfer.Security;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HotCacheTest {
    private static final ByteString KEY = ByteString.of("k");
    private static final long BYTES = 100_000;

    private final Arena arena = Arena.ofShared();
    private final TransferEngine engine =
            Engines.start(
                            Engines.DEFAULT_SETTINGS,
                            StoreClientConfig.P2P,
                            "127.0.0.1",
                            Security.PLAIN,
                            Clock.system(),
                            new SimpleMeterRegistry())
                    .orThrow();
    private final Peers peers = new Peers(engine, Clock.system());
    private final HotCache cache =
            new HotCache(
                    StoreClientConfig.Memory.DEFAULT.withHotCache(1 << 20),
                    peers,
                    new SimpleMeterRegistry());
    private final ReplicaDescriptor replica =
            new ReplicaDescriptor(
                    1,
                    new Placement.Memory(new BufferDescriptor(BYTES, 4096, "tcp", "192.0.2.1:1")),
                    ReplicaStatus.COMPLETE.number());

    @AfterEach
    void stop() {
        engine.close();
        arena.close();
    }

    private ReadItem item(MemorySegment into, long version, MemorySegment value) {
        ByteString sums = Checksums.of(List.of(value));
        Found found = new Found(List.of(replica), version, OptionalLong.empty(), sums);
        return ReadItem.whole(0, KEY, found, List.of(into), peers).orThrow();
    }

    @Test
    void what_is_read_twice_is_served_in_its_version_alone() {
        MemorySegment value = arena.allocate(BYTES).fill((byte) 1);
        MemorySegment into = arena.allocate(BYTES);
        cache.offer(item(value, 7, value), replica);
        assertThat(cache.serve(item(into, 7, value))).as("read once").isFalse();
        cache.offer(item(value, 7, value), replica);
        assertThat(cache.serve(item(into, 7, value))).isTrue();
        assertThat(into.mismatch(value)).isEqualTo(-1);
        assertThat(cache.serve(item(into, 8, value))).as("it was replaced").isFalse();
    }

    @Test
    void bytes_that_were_written_over_since_they_came_do_not_get_in() {
        MemorySegment value = arena.allocate(BYTES).fill((byte) 1);
        MemorySegment shared = arena.allocate(BYTES).copyFrom(value);
        cache.offer(item(shared, 7, value), replica);
        shared.fill((byte) 2);
        cache.offer(item(shared, 7, value), replica);
        assertThat(cache.serve(item(arena.allocate(BYTES), 7, value))).isFalse();
    }
}
