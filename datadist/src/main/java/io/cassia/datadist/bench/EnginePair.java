package io.cassia.datadist.bench;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Pieces;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.RegisteredBuffer;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Two bare engines with memory of the same size. Immutable. The local one reads from or writes to
 * the remote one.
 */
record EnginePair(
        TransferEngine local,
        TransferEngine remote,
        MemorySegment memory,
        SegmentHandle target,
        long address)
        implements AutoCloseable {
    static Outcome<EnginePair> open(DataDistBench.Plan plan, Clock clock, MeterRegistry meters) {
        TransferConfig config = TransferConfig.p2p("127.0.0.1").withLocalCopies(!plan.sockets());
        return TransferEngine.start(config, clock, meters)
                .then(
                        local ->
                                TransferEngine.start(config, clock, meters)
                                        .then(remote -> connect(local, remote, plan.totalBytes())));
    }

    private static Outcome<EnginePair> connect(
            TransferEngine local, TransferEngine remote, long bytes) {
        Outcome<EnginePair> pair =
                local.allocate(bytes)
                        .then(
                                mine ->
                                        buffer(remote, bytes)
                                                .then(
                                                        theirs ->
                                                                local.openSegment(
                                                                                remote.localName())
                                                                        .map(
                                                                                target ->
                                                                                        new EnginePair(
                                                                                                local,
                                                                                                remote,
                                                                                                mine
                                                                                                        .memory(),
                                                                                                target,
                                                                                                theirs
                                                                                                        .address()))));
        if (!pair.isOk()) {
            local.close();
            remote.close();
        }
        return pair;
    }

    private static Outcome<RegisteredBuffer> buffer(TransferEngine engine, long bytes) {
        return engine.allocate(bytes)
                .then(region -> engine.register(region.memory(), BufferOptions.DEFAULT));
    }

    /** The requests that move these pieces. */
    List<TransferRequest> requests(Opcode opcode, Pieces pieces) {
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
        return local.transfer(list, limit).stream()
                .filter(outcome -> !outcome.isOk())
                .findFirst()
                .orElseGet(Outcome::done);
    }

    @Override
    public void close() {
        local.close();
        remote.close();
    }
}
