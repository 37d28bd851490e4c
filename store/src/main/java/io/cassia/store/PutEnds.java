package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.cassia.CheckedMessages.EndChecked;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.cassia.ReservedMessages.Commit;
import io.cassia.rpc.cassia.ReservedMessages.EndReserving;
import io.cassia.rpc.cassia.ReservedMessages.Ended;
import io.cassia.rpc.cassia.ReservedMessages.Wanted;
import io.cassia.rpc.cassia.ReservedMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions.Condition;
import io.cassia.store.Reservations.Shape;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * How puts end: what was written becomes readable, or is taken back. Thread-safe. With the end of a
 * put the space for the next one may come (docs/adr/0067).
 */
final class PutEnds {
    private final Uuid client;
    private final ByteString tenant;
    private final Clock clock;
    private final MasterLink master;
    private final Reservations reservations;
    private final Counter commits;

    PutEnds(
            Uuid client,
            ByteString tenant,
            Clock clock,
            MasterLink master,
            Reservations reservations,
            MeterRegistry meters) {
        this.client = client;
        this.tenant = tenant;
        this.clock = clock;
        this.master = master;
        this.reservations = reservations;
        this.commits =
                Counter.builder("cassia_store_put_commits")
                        .description("Puts to space that had been reserved ahead")
                        .register(meters);
    }

    /** Makes what was written readable, and asks for space for the next put. */
    void finish(
            List<PutItem> items,
            Optional<Shape> shape,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        List<WrittenObject> written = new ArrayList<>(items.size());
        for (PutItem item : items) {
            written.add(item.written());
        }
        Wanted next = reservations.next(shape);
        List<Outcome<Long>> ended =
                next.lengths().isEmpty()
                        ? master.end(client, written, PutItem.puts(items), tenant, deadline)
                        : endReserving(written, PutItem.puts(items), shape, next, deadline);
        for (int i = 0; i < items.size(); i++) {
            PutItem item = items.get(i);
            outcomes.set(
                    item.index,
                    ended.get(i) instanceof Outcome.Failed<Long> failed
                            ? endFailed(item.key, failed)
                            : ended.get(i));
        }
    }

    private List<Outcome<Long>> endReserving(
            List<WrittenObject> written,
            List<Long> puts,
            Optional<Shape> shape,
            Wanted next,
            Deadline deadline) {
        long sentNanos = clock.nanos();
        EndReserving end = new EndReserving(new EndChecked(client, written, tenant), puts, next);
        return ended(
                master.end(ReservedMethods.END_RESERVING, end, puts.size(), deadline),
                puts.size(),
                shape,
                next,
                sentNanos);
    }

    private static Outcome<Long> endFailed(ByteString key, Outcome.Failed<Long> failed) {
        String unknown =
                MasterLink.isUnanswered(failed)
                        ? "; it may be readable or not, ask whether it exists"
                        : RpcClient.wasNotSent(failed)
                                ? "; nothing is readable, the key is free again after the discard timeout"
                                : "";
        return Outcome.failed(
                endCode(failed),
                "end of put of " + Keys.show(key) + ": " + failed.detail() + unknown);
    }

    /** Of a put that it has given up the master knows nothing any more. */
    private static Code endCode(Outcome.Failed<?> failed) {
        return failed.code() == StoreCode.OBJECT_NOT_FOUND
                ? StoreCode.INVALID_WRITE
                : failed.code();
    }

    /**
     * Makes what was written to reserved space readable; answers what the master had no space for
     * any more.
     */
    List<PutItem> commit(
            List<PutItem> items,
            int batchSize,
            PutOptions options,
            Optional<Shape> shape,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        Wanted next = reservations.next(shape);
        long sentNanos = clock.nanos();
        List<WrittenObject> written = new ArrayList<>(items.size());
        List<Long> lengths = new ArrayList<>(items.size());
        for (PutItem item : items) {
            written.add(item.written());
            lengths.add(item.bytes);
        }
        Commit commit =
                new Commit(
                        client,
                        written,
                        lengths,
                        PutItem.puts(items),
                        PutStarts.fit(options, List.of(), items, batchSize).replicate(),
                        options.condition() instanceof Condition.Always,
                        tenant,
                        next);
        Outcome<Ended> answer = master.end(ReservedMethods.COMMIT, commit, items.size(), deadline);
        List<Outcome<Long>> versions = ended(answer, items.size(), shape, next, sentNanos);
        List<PutItem> again = new ArrayList<>(0);
        for (int i = 0; i < items.size(); i++) {
            PutItem item = items.get(i);
            boolean gone =
                    versions.get(i) instanceof Outcome.Failed<Long> failed
                            && failed.code() == StoreCode.INVALID_WRITE;
            if (gone) {
                again.add(item);
            }
            outcomes.set(item.index, committed(item, versions.get(i)));
        }
        commits.increment((double) versions.stream().filter(Outcome::isOk).count());
        if (!answer.isOk()) {
            // If it was not done yet, it will not be.
            reservations.giveBack(PutItem.puts(items), deadline);
        }
        return again;
    }

    private static Outcome<Long> committed(PutItem item, Outcome<Long> version) {
        if (!(version instanceof Outcome.Failed<Long> failed)) {
            return version;
        }
        return MasterLink.isUnanswered(failed)
                ? endFailed(item.key, failed)
                : failed.in(item.context());
    }

    /** One outcome per object, and keeps the space that has come with them. */
    private List<Outcome<Long>> ended(
            Outcome<Ended> answer, int size, Optional<Shape> shape, Wanted next, long sentNanos) {
        return switch (answer) {
            case Outcome.Ok<Ended>(Ended ended) -> {
                if (shape.isPresent() && !next.lengths().isEmpty()) {
                    reservations.keep(shape.get(), ended.next(), sentNanos);
                }
                yield ended.versions();
            }
            case Outcome.Failed<Ended> failed -> {
                if (!next.lengths().isEmpty()) {
                    reservations.unanswered();
                }
                yield Collections.nCopies(size, failed.as());
            }
        };
    }

    /**
     * Makes objects readable that were written piece by piece; one version per object.
     *
     * @param puts for each object the id of the first replica that its start answered
     */
    List<Outcome<Long>> endPieces(List<WrittenObject> written, List<Long> puts, Deadline deadline) {
        List<Outcome<Long>> ended = new ArrayList<>(written.size());
        for (Outcome<Long> version : master.end(client, written, puts, tenant, deadline)) {
            ended.add(
                    version instanceof Outcome.Failed<Long> failed
                            ? endFailed(written.get(ended.size()).key(), failed)
                            : version);
        }
        return ended;
    }

    /** Takes puts back; one outcome per key. The puts are named as for {@link #endPieces}. */
    List<Outcome<Done>> revokePieces(List<ByteString> keys, List<Long> puts, Deadline deadline) {
        Args.BatchPutRevoke revoke =
                new Args.BatchPutRevoke(client, keys, ReplicaType.ALL.number(), tenant);
        return master.callBatch(MasterMethods.BATCH_PUT_REVOKE, revoke, puts, deadline);
    }

    /** Whether sums of chunks are wanted at the end of a put. */
    boolean isChecked() {
        return master.isChecked();
    }
}
