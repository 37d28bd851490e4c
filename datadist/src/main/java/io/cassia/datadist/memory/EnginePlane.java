package io.cassia.datadist.memory;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.Region;
import io.cassia.transfer.RegisteredBuffer;
import io.cassia.transfer.RemoteBuffer;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

/**
 * The Transfer Engine as data plane. Guarded by the engine. Memory is published for reading only:
 * the side that receives fetches, so that nobody but the owner ever writes to an owner's memory.
 */
public final class EnginePlane implements DataPlane {
    private static final System.Logger LOG = System.getLogger(EnginePlane.class.getName());

    private final TransferEngine engine;

    private EnginePlane(TransferEngine engine) {
        this.engine = engine;
    }

    /** Starts an engine; {@code LLM_FAILED} with the engine's words when it cannot. */
    public static Outcome<DataPlane> start(
            TransferConfig config, Clock clock, MeterRegistry meters) {
        return failedAs(TransferEngine.start(config, clock, meters), LlmStatus.LLM_FAILED)
                .map(
                        engine -> {
                            Thread.startVirtualThread(() -> warmUp(engine));
                            return new EnginePlane(engine);
                        });
    }

    /**
     * Asks this side's own engine once for what peers will ask it: the first time costs a hundred
     * times more than the next, and would cost the first transfer's deadline.
     */
    private static void warmUp(TransferEngine engine) {
        Outcome<List<RemoteBuffer>> ignored = engine.remoteBuffers(engine.localSegment());
    }

    @Override
    public String localName() {
        return engine.localName();
    }

    @Override
    public Outcome<PlaneMemory> allocate(long bytes) {
        Outcome<Region> region = failedAs(engine.allocate(bytes), LlmStatus.LLM_OUT_OF_MEMORY);
        return region.then(
                r -> {
                    Outcome<PlaneMemory> registered = register(r.memory());
                    if (!registered.isOk()) {
                        return freed(r).then(ignored -> registered);
                    }
                    return registered.map(
                            m ->
                                    new PlaneMemory(
                                            m.memory(),
                                            () -> m.release().get().then(ignored -> freed(r))));
                });
    }

    @Override
    public Outcome<PlaneMemory> register(MemorySegment memory) {
        Outcome<RegisteredBuffer> buffer = engine.register(memory, BufferOptions.READ_ONLY);
        if (buffer instanceof Outcome.Failed<RegisteredBuffer> failed) {
            boolean argument =
                    failed.code() == TransferCode.ERR_ADDRESS_OVERLAPPED
                            || failed.code() == TransferCode.ERR_INVALID_ARGUMENT;
            return failedAs(buffer, argument ? LlmStatus.LLM_PARAM_INVALID : LlmStatus.LLM_FAILED)
                    .map(b -> new PlaneMemory(memory, Outcome::done));
        }
        return buffer.map(b -> new PlaneMemory(memory, () -> unregistered(b)));
    }

    /** {@code LLM_WAIT_PROC_TIMEOUT} when somebody does not let go: it stays registered then. */
    private Outcome<Done> unregistered(RegisteredBuffer buffer) {
        Outcome<Done> outcome = engine.unregister(buffer);
        if (outcome instanceof Outcome.Failed<Done> failed) {
            if (failed.code() == TransferCode.ERR_BATCH_BUSY) {
                return failedAs(outcome, LlmStatus.LLM_WAIT_PROC_TIMEOUT);
            }
            LOG.log(Level.WARNING, "unregister " + failed.code() + ": " + failed.detail());
        }
        return Outcome.done();
    }

    private Outcome<Done> freed(Region region) {
        return failedAs(engine.free(region), LlmStatus.LLM_FAILED);
    }

    @Override
    public Outcome<SegmentHandle> open(String name) {
        return failedAs(engine.openSegment(name), LlmStatus.LLM_FAILED);
    }

    @Override
    public void letGo(SegmentHandle segment) {
        if (!segment.isLocal()
                && engine.closeSegment(segment) instanceof Outcome.Failed<Done> failed) {
            // Only a plane that is closing does not know it any more.
            LOG.log(Level.DEBUG, "segment-close %s: %s".formatted(segment, failed.detail()));
        }
    }

    @Override
    public List<Outcome<Done>> transfer(List<TransferRequest> requests, Duration deadline) {
        return engine.transfer(requests, deadline);
    }

    @Override
    public void close() {
        engine.close();
    }

    private static <T> Outcome<T> failedAs(Outcome<T> outcome, LlmStatus code) {
        return outcome instanceof Outcome.Failed<T> failed
                ? Outcome.failed(
                        code, "transfer engine: " + failed.code().label() + ": " + failed.detail())
                : outcome;
    }
}
