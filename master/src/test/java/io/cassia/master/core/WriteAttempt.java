package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.testkit.simulation.History;

/**
 * Confined to the simulation. One put or upsert of one key, from its start to the moment from which
 * it cannot take effect any more.
 */
final class WriteAttempt {
    final ObjectName name;
    final Uuid writer;
    final long version;
    final long length;
    final boolean upsert;
    final ReplicateConfig config;
    private final History<Long, StoreOperation> history;
    private final History.Call<StoreOperation> call;

    /** Whether the master let it start over a version that only silent clients hold. */
    boolean replacesSilent;

    /** Whether the master has let it take effect. */
    boolean tookEffect;

    /** Whether its writer was given space, and has filled all of it. */
    boolean started;

    boolean written;

    /** The Start that the End meant which took effect; 0 when that did not say. */
    long endedPut;

    /** Id of the first replica that its Start answered. */
    long put;

    private int endsUnderWay;
    private int endsSent;
    private boolean abandoned;

    WriteAttempt(
            ObjectName name,
            Uuid writer,
            long version,
            long length,
            boolean upsert,
            ReplicateConfig config,
            History<Long, StoreOperation> history) {
        this.name = name;
        this.writer = writer;
        this.version = version;
        this.length = length;
        this.upsert = upsert;
        this.config = config;
        this.history = history;
        StoreOperation.Kind kind = upsert ? StoreOperation.Kind.UPSERT : StoreOperation.Kind.PUT;
        this.call = history.call(new StoreOperation(kind, version));
    }

    ByteString group() {
        return PutRules.group(config);
    }

    void endSent() {
        endsSent++;
        endsUnderWay++;
    }

    /** All copies of one End have arrived or are lost. */
    void endOver() {
        endsUnderWay--;
        settle();
    }

    /** The writer learned that it took effect. */
    void succeeded() {
        if (call.isOpen()) {
            history.done(call);
        }
    }

    /** The writer learned that an End had no effect; one that arrived before it may have had. */
    void refused() {
        abandon();
    }

    /** The writer gives up, or dies. */
    void abandon() {
        abandoned = true;
        settle();
    }

    private void settle() {
        if (abandoned && endsUnderWay == 0 && call.isOpen()) {
            if (endsSent == 0) {
                history.failed(call);
            } else {
                history.unknown(call);
            }
        }
    }

    @Override
    public String toString() {
        return (upsert ? "upsert " : "put ") + version + " of " + name;
    }
}
