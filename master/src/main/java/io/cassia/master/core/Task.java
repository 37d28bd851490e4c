package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.TaskInfo;
import io.cassia.rpc.mooncake.Uuid;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. A copy or move that a client is to carry out.
 *
 * <pre>
 *   PENDING ──fetched──► PROCESSING ──ended by its client──► SUCCESS, FAILED
 *      └──────nobody fetched it, nobody ended it, its client died──► FAILED
 * </pre>
 */
final class Task {
    enum Status {
        PENDING(0),
        PROCESSING(1),
        FAILED(2),
        SUCCESS(3);

        final int number;

        Status(int number) {
            this.number = number;
        }
    }

    final Uuid id;
    final Replication.Kind kind;
    final ByteString tenant;
    final ByteString key;
    final String source;
    final List<String> targets;
    final Uuid client;
    final long createdAtMs;
    final long createdAt;

    /** The drain job that it belongs to. */
    final @Nullable DrainJob job;

    Status status = Status.PENDING;
    long updatedAt;
    String message = "";

    Task(
            Uuid id,
            Replication.Kind kind,
            ByteString tenant,
            ByteString key,
            String source,
            List<String> targets,
            Uuid client,
            long createdAtMs,
            long now,
            @Nullable DrainJob job) {
        this.id = id;
        this.kind = kind;
        this.tenant = tenant;
        this.key = key;
        this.source = source;
        this.targets = targets;
        this.client = client;
        this.createdAtMs = createdAtMs;
        this.createdAt = now;
        this.updatedAt = now;
        this.job = job;
    }

    boolean isFinished() {
        return status == Status.FAILED || status == Status.SUCCESS;
    }

    int type() {
        return kind == Replication.Kind.COPY ? 0 : 1;
    }

    TaskInfo info() {
        long updatedAtMs = createdAtMs + TimeUnit.NANOSECONDS.toMillis(updatedAt - createdAt);
        return new TaskInfo(id, type(), status.number, createdAtMs, updatedAtMs, client, message);
    }

    void digest(Digest digest) {
        digest.add(id);
        digest.add(status.number);
        digest.add(key.array());
        digest.add(client);
        digest.add(updatedAt);
    }
}
