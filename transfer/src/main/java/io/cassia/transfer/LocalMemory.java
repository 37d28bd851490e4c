package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.memory.LentFile;
import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.memory.SharedMapping;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.metadata.SegmentDescriptor;
import io.cassia.transfer.topology.Location;
import io.cassia.transfer.topology.NumaMemory;
import io.cassia.transfer.transport.shm.SameHost;
import io.cassia.transfer.transport.tcp.DataServer;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The engine's own segment: its regions, its registered buffers, and how they come and go. Guarded.
 */
final class LocalMemory {
    private static final System.Logger LOG = System.getLogger(LocalMemory.class.getName());

    /** How long an aborted transfer may take to let go of its memory. */
    private static final Duration ABORT = Duration.ofSeconds(30);

    private static final Duration ABORT_STEP = Duration.ofMillis(20);

    private final BufferTable buffers;
    private final DataServer server;
    private final SameHost host;
    private final PeerDirectory directory;
    private final Clock clock;
    private final Duration drain;
    private final KnownLocations locations = new KnownLocations();
    private final Set<Region> regions = ConcurrentHashMap.newKeySet();

    LocalMemory(BufferTable buffers, DataServer server, EngineParts parts) {
        this.buffers = buffers;
        this.server = server;
        this.host = parts.host();
        this.directory = parts.directory();
        this.clock = parts.clock();
        this.drain = parts.config().timeouts().drain();
    }

    /** What the buffers look like to peers. */
    static List<SegmentDescriptor.Buffer> published(BufferTable buffers, String segment) {
        return buffers.registered().stream()
                .filter(Registration::readable)
                .map(
                        range ->
                                new SegmentDescriptor.Buffer(
                                        segment, range.address(), range.lengthBytes()))
                .toList();
    }

    Outcome<Region> allocate(long lengthBytes, String location) {
        return Location.parse(location).then(place -> allocate(lengthBytes, place));
    }

    private Outcome<Region> allocate(long lengthBytes, Location location) {
        return switch (SharedMapping.create(lengthBytes)) {
            case Outcome.Failed<SharedMapping> failed -> failed.as();
            case Outcome.Ok<SharedMapping>(SharedMapping mapping) -> {
                Region region = new Region(mapping, this);
                regions.add(region);
                yield location.equals(Location.ANY) ? Outcome.ok(region) : place(region, location);
            }
        };
    }

    private Outcome<Region> place(Region region, Location location) {
        return switch (NumaMemory.system().place(region.memory(), location)) {
            case Outcome.Ok<Done> ok -> Outcome.ok(region);
            case Outcome.Failed<Done> failed -> {
                Outcome<Done> freed = free(region);
                yield failed.in("allocating at " + location + (freed.isOk() ? "" : " (not freed)"));
            }
        };
    }

    boolean owns(Region region) {
        return regions.contains(region);
    }

    Outcome<Done> free(Region region) {
        if (!regions.contains(region)) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT,
                    "region of %d bytes is not of this engine, or was freed"
                            .formatted(region.lengthBytes()));
        }
        if (buffers.touches(region.memory())) {
            return Outcome.failed(
                    TransferCode.ERR_BATCH_BUSY,
                    "a buffer of the region of %d bytes is registered; unregister it first"
                            .formatted(region.lengthBytes()));
        }
        return region.mapping()
                .close()
                .map(
                        done -> {
                            regions.remove(region);
                            return done;
                        });
    }

    /** Maps a part of another program's file. */
    Outcome<Region> map(Path file, long offsetBytes, long lengthBytes) {
        return LentFile.map(file, offsetBytes, lengthBytes)
                .map(
                        mapping -> {
                            Region region = new Region(mapping, this);
                            regions.add(region);
                            return region;
                        });
    }

    /** Registers all or none. */
    Outcome<List<RegisteredBuffer>> register(List<MemorySegment> memory, BufferOptions options) {
        return locations
                .check(options.location())
                .then(_ -> buffers.addAll(memory.stream().map(m -> wish(m, options)).toList()))
                .then(
                        ranges -> {
                            ranges.forEach(this::expose);
                            return published(ranges, options);
                        });
    }

    /** Opens it to processes of this host, with the shared file that it is in, if it is in one. */
    private void expose(Registration range) {
        if (!range.readable()) {
            return;
        }
        Region region = around(range.memory());
        if (region == null) {
            host.add(range, 0, 0);
        } else {
            long offset = range.address() - region.memory().address();
            host.add(range, region.mapping().number(), offset);
        }
    }

    /** The region that memory is in; null for memory of somebody else. */
    private @Nullable Region around(MemorySegment memory) {
        for (Region region : regions) {
            long offset = memory.address() - region.memory().address();
            if (offset >= 0 && offset + memory.byteSize() <= region.lengthBytes()) {
                return region;
            }
        }
        return null;
    }

    private BufferTable.Wish wish(MemorySegment memory, BufferOptions options) {
        Region region = around(memory);
        return new BufferTable.Wish(
                memory,
                region != null && region.mapping() instanceof LentFile lent ? lent : null,
                options.location(),
                options.remoteAccessible(),
                options.remoteWritable());
    }

    private Outcome<List<RegisteredBuffer>> published(
            List<Registration> ranges, BufferOptions options) {
        return switch (directory.publish()) {
            case Outcome.Ok<Done> ok ->
                    Outcome.ok(
                            ranges.stream()
                                    .map(range -> new RegisteredBuffer(range, options, this))
                                    .toList());
            case Outcome.Failed<Done> failed -> {
                long inUse = ranges.stream().filter(range -> !withdraw(range).isOk()).count();
                yield failed.in(
                        "registering %s (%d ranges, %d of them in use)"
                                .formatted(ranges.getFirst(), ranges.size(), inUse));
            }
        };
    }

    Outcome<Done> unregister(RegisteredBuffer buffer) {
        return withdraw(List.of(buffer.registration()));
    }

    /** One publication for all; the first failure, but each is tried. */
    Outcome<Done> unregister(List<RegisteredBuffer> unwanted) {
        return withdraw(unwanted.stream().map(RegisteredBuffer::registration).toList());
    }

    /** By the address of its first byte, and no other. */
    Outcome<Done> unregister(long address) {
        Optional<Registration> range = buffers.startingAt(address);
        return range.isPresent()
                ? withdraw(List.of(range.get()))
                : Outcome.failed(
                        TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                        "no registered buffer starts at 0x%x".formatted(address));
    }

    private Outcome<Done> withdraw(List<Registration> ranges) {
        Outcome<Done> first = Outcome.done();
        List<Registration> draining = new ArrayList<>();
        for (Registration range : ranges) {
            Outcome<Done> drained = buffers.drain(range);
            if (drained.isOk()) {
                host.drain(range);
                draining.add(range);
            } else if (first.isOk()) {
                first = drained;
            }
        }
        if (draining.isEmpty()) {
            return first;
        }
        // Peers learn of it before the wait, so that fewer come meanwhile.
        Outcome<Done> published = directory.publish();
        for (Registration range : draining) {
            Outcome<Done> withdrawn = withdraw(range);
            if (first.isOk()) {
                first = withdrawn;
            }
        }
        return first.isOk() ? published : first;
    }

    /** Ends the transfers on a range and forgets it. */
    private Outcome<Done> withdraw(Registration range) {
        Outcome<Done> draining = buffers.drain(range);
        if (!draining.isOk()) {
            return draining;
        }
        host.drain(range);
        if (!awaitClosed(range, drain) && !abort(range)) {
            return Outcome.failed(
                    TransferCode.ERR_BATCH_BUSY,
                    "range %s is still used by a transfer that does not end; do not free it"
                            .formatted(range));
        }
        buffers.remove(range);
        return Outcome.done();
    }

    /** Waits for other processes, then for what this one does for peers. */
    private boolean awaitClosed(Registration range, Duration timeout) {
        long deadline = clock.nanos() + timeout.toNanos();
        return host.awaitQuiet(range, timeout.toNanos())
                && buffers.awaitClosed(range, Math.max(0, deadline - clock.nanos()));
    }

    private boolean abort(Registration range) {
        long deadline = clock.nanos() + ABORT.toNanos();
        do {
            // Again and again: a connection may just have begun to use the range when it was asked.
            server.abort(range);
            host.abort(range);
            if (awaitClosed(range, ABORT_STEP)) {
                return true;
            }
        } while (clock.nanos() - deadline < 0);
        return false;
    }

    /** Ends everything; memory that an I/O call still uses stays mapped. */
    void close() {
        for (Registration range : buffers.registered()) {
            if (withdraw(range) instanceof Outcome.Failed<Done>(var code, String detail)) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "buffer-not-closed code={0} detail=\"{1}\"",
                        code.label(),
                        detail);
            }
        }
        regions.forEach(this::unmap);
    }

    private void unmap(Region region) {
        long deadline = clock.nanos() + ABORT.toNanos();
        Outcome<Done> freed = free(region);
        while (!freed.isOk()
                && clock.nanos() - deadline < 0
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            freed = free(region);
        }
        if (freed instanceof Outcome.Failed<Done>(var code, String detail)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "region-not-unmapped code={0} detail=\"{1}\"",
                    code.label(),
                    detail);
        }
    }
}
