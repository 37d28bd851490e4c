package io.cassia.datadist.bench;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Pieces;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A bare engine with memory that peers may read and write. Immutable. */
record EngineSide(TransferEngine engine, MemorySegment memory) implements AutoCloseable {
    /** {@code LLM_FAILED} in the engine's words. */
    static Outcome<EngineSide> open(
            Set<Transport> transports, long bytes, Clock clock, MeterRegistry meters) {
        TransferConfig config = TransferConfig.p2p("127.0.0.1").withTransports(transports);
        return failed(TransferEngine.start(config, clock, meters))
                .then(
                        engine -> {
                            Outcome<EngineSide> side = failed(offer(engine, bytes));
                            if (!side.isOk()) {
                                engine.close();
                            }
                            return side;
                        });
    }

    private static Outcome<EngineSide> offer(TransferEngine engine, long bytes) {
        return engine.allocate(bytes)
                .then(
                        region ->
                                engine.register(region.memory(), BufferOptions.DEFAULT)
                                        .map(
                                                buffer -> {
                                                    MemorySegment memory = region.memory();
                                                    return new EngineSide(
                                                            engine, memory.fill((byte) 1));
                                                }));
    }

    private static <T> Outcome<T> failed(Outcome<T> outcome) {
        return outcome instanceof Outcome.Failed<T> failed
                ? Outcome.failed(
                        LlmStatus.LLM_FAILED,
                        "bare engine: " + failed.code().label() + ": " + failed.detail())
                : outcome;
    }

    String name() {
        return engine.localName();
    }

    long address() {
        return memory.address();
    }

    Outcome<SegmentHandle> target(String name) {
        return failed(engine.openSegment(name));
    }

    /** The requests that move these pieces between this memory and that at the address. */
    List<TransferRequest> requests(
            Opcode opcode, Pieces pieces, SegmentHandle target, long address) {
        List<TransferRequest> list = new ArrayList<>(pieces.count());
        for (int i = 0; i < pieces.count(); i++) {
            boolean read = opcode == Opcode.READ;
            long here = read ? pieces.dstOffset(i) : pieces.srcOffset(i);
            long there = read ? pieces.srcOffset(i) : pieces.dstOffset(i);
            list.add(
                    new TransferRequest(
                            opcode,
                            memory.asSlice(here, pieces.lengthBytes(i)),
                            target,
                            address + there));
        }
        return list;
    }

    Outcome<Done> transfer(List<TransferRequest> list, Duration limit) {
        return failed(
                engine.transfer(list, limit).stream()
                        .filter(outcome -> !outcome.isOk())
                        .findFirst()
                        .orElseGet(Outcome::done));
    }

    @Override
    public void close() {
        engine.close();
    }
}
