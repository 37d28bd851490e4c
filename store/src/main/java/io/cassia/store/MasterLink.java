package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.base.HostPort;
import io.cassia.rpc.Attachment;
import io.cassia.rpc.Reply;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.cassia.CassiaMessages.Acquire;
import io.cassia.rpc.cassia.CassiaMessages.Acquired;
import io.cassia.rpc.cassia.CassiaMessages.HelloResult;
import io.cassia.rpc.cassia.CassiaMessages.LongestPrefix;
import io.cassia.rpc.cassia.CassiaMessages.Release;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.cassia.CheckedMessages.CheckedAcquired;
import io.cassia.rpc.cassia.CheckedMessages.CheckedObject;
import io.cassia.rpc.cassia.CheckedMessages.DropReplica;
import io.cassia.rpc.cassia.CheckedMessages.EndChecked;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.cassia.CheckedMethods;
import io.cassia.rpc.cassia.ReservedMessages.Ended;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.StoreClientConfig.Calls;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * The way to one master, Cassia's or Mooncake's. Thread-safe. A master that does not know the
 * {@code cassia::} methods is spoken to in plain Mooncake.
 */
final class MasterLink implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(MasterLink.class.getName());

    /** The only release of the protocol that this client speaks. */
    static final String VERSION = "2.0.0";

    private static final int DEFAULT_PORT = 50051;

    private static final Duration RETRY_PAUSE = Duration.ofMillis(50);

    /**
     * One part in so many of a lease is not used: more than a clock may lose against another one
     * (500 ppm while it is being set right, and as much for its quartz).
     */
    private static final long DRIFT_SHARE = 100;

    private static final Attachment ASKS_TERM =
            Attachment.NONE.with(Attachment.TERM, ByteString.EMPTY);

    private final RpcClient rpc;
    private final Calls calls;
    private final Clock clock;
    private final List<String> capabilities;
    private final boolean cassia;
    private final boolean checked;
    private final boolean namesPuts;
    private final boolean tellsTerms;
    private volatile boolean closed;

    private MasterLink(RpcClient rpc, Calls calls, Clock clock, List<String> capabilities) {
        this.rpc = rpc;
        this.calls = calls;
        this.clock = clock;
        this.capabilities = capabilities;
        this.cassia = capabilities.contains("acquire");
        this.namesPuts = capabilities.contains("puts");
        this.tellsTerms = capabilities.contains("term");
        this.checked = capabilities.contains(CheckedMethods.CAPABILITY);
    }

    /**
     * Replicas of some keys under one lease.
     *
     * @param objects one per key; with {@code prefixOnly} only the leading readable keys
     * @param leaseId to give back; 0 when the lease only runs out
     * @param untilNanos until when what was read counts, on the client's own clock: counted from
     *     before the request was sent, and a hundredth shorter than the lease
     */
    record Leased(List<Outcome<Found>> objects, long leaseId, long untilNanos) {}

    /**
     * The answer to a Start.
     *
     * @param term until when the space that it gave is the writer's own, on the client's own clock:
     *     counted from before the request was sent, and a hundredth shorter; nobody writes later.
     *     Never from a master that does not tell
     */
    record Started<T>(T answer, Deadline term) {}

    /** Connects and agrees on the release; the codes are those of {@link #open}. */
    static Outcome<MasterLink> connect(
            String address,
            Calls calls,
            Uuid client,
            Clock clock,
            Deadline deadline,
            MeterRegistry meters) {
        Optional<HostPort> parsed = HostPort.parse(address, DEFAULT_PORT);
        if (parsed.isEmpty()) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS, "master address '" + address + "' is not host:port");
        }
        HostPort master = parsed.get();
        RpcClient rpc =
                RpcClient.builder(master.host(), master.port(), meters)
                        .connectTimeout(calls.connectTimeout())
                        .clock(clock)
                        .build();
        return switch (rpc.connect(deadline.remaining())) {
            case Outcome.Ok<Done> ok -> open(rpc, calls, client, clock, deadline);
            case Outcome.Failed<Done> failed -> {
                rpc.close();
                yield failed.in("master " + master);
            }
        };
    }

    /**
     * Agrees on the release with the master behind a connection. RPC_FAIL when none answers,
     * INVALID_VERSION when it speaks another release. The connection is closed on failure.
     */
    static Outcome<MasterLink> open(
            RpcClient rpc, Calls calls, Uuid client, Clock clock, Deadline deadline) {
        Outcome<MasterLink> link =
                rpc.callExpected(MasterMethods.SERVICE_READY, Done.DONE, deadline.remaining())
                        .then(MasterLink::checkVersion)
                        .then(version -> greet(rpc, client, deadline))
                        .map(capabilities -> new MasterLink(rpc, calls, clock, capabilities));
        if (!link.isOk()) {
            rpc.close();
        }
        return link;
    }

    private static Outcome<String> checkVersion(String version) {
        return version.equals(VERSION)
                ? Outcome.ok(version)
                : Outcome.failed(
                        StoreCode.INVALID_VERSION,
                        "the master speaks release "
                                + version
                                + ", this client "
                                + VERSION
                                + ": run the same release on both sides");
    }

    private static Outcome<List<String>> greet(RpcClient rpc, Uuid client, Deadline deadline) {
        return rpc.callIfRegistered(CassiaMethods.HELLO, client, deadline.remaining())
                .then(
                        answer -> {
                            if (answer.isEmpty()) {
                                return Outcome.ok(List.of());
                            }
                            return answer.get().map(hello -> adopt(rpc, hello));
                        });
    }

    private static List<String> adopt(RpcClient rpc, HelloResult hello) {
        rpc.failureDetails(hello.capabilities().contains("details"));
        return hello.capabilities();
    }

    /** Whether this is a Cassia master: leases can be given back, objects listed, figures read. */
    boolean isCassia() {
        return cassia;
    }

    /** Whether it keeps checksums of chunks and versions. */
    boolean isChecked() {
        return checked;
    }

    /** Whether it speaks an extension. */
    boolean can(String capability) {
        return capabilities.contains(capability);
    }

    /**
     * One call of a method that changes nothing: tried again for a while when the connection
     * breaks, so that a master that restarts is not noticed.
     */
    <A, T> Outcome<T> ask(RpcMethod<A, Outcome<T>> method, A args, Deadline deadline) {
        return again(() -> call(method, args, deadline), deadline);
    }

    /** The same for a batch; when the call as a whole fails, so does each of its items. */
    <A, T> List<Outcome<T>> askBatch(
            RpcMethod<A, List<Outcome<T>>> method, A args, int size, Deadline deadline) {
        return each(again(() -> rpc.call(method, args, deadline.remaining()), deadline), size);
    }

    private <T> Outcome<T> again(Supplier<Outcome<T>> call, Deadline deadline) {
        long until = clock.nanos() + calls.retryTime().toNanos();
        Outcome<T> answer = call.get();
        while (answer instanceof Outcome.Failed<T> failed
                && failed.code() == StoreCode.RPC_FAIL
                && clock.nanos() - until < 0
                && !deadline.hasPassed()
                && !closed
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(RETRY_PAUSE.toNanos());
            answer = call.get();
        }
        return answer;
    }

    /** Whether the master may have done what it was asked for without being heard. */
    static boolean isUnanswered(Outcome.Failed<?> failed) {
        return (failed.code() == StoreCode.RPC_FAIL || failed.code() == StoreCode.RPC_TIMEOUT)
                && !RpcClient.wasNotSent(failed);
    }

    /**
     * One call of a method that changes something: it is not tried again, and when there was no
     * answer the detail says so.
     */
    <A, T> Outcome<T> order(RpcMethod<A, Outcome<T>> method, A args, Deadline deadline) {
        Outcome<T> answer = call(method, args, deadline);
        return answer instanceof Outcome.Failed<T> failed && isUnanswered(failed)
                ? Outcome.failed(
                        failed.code(), failed.detail() + "; it may have been done all the same")
                : answer;
    }

    /** One call of a method whose result carries its own success or failure. */
    <A, T> Outcome<T> call(RpcMethod<A, Outcome<T>> method, A args, Deadline deadline) {
        return rpc.callExpected(method, args, deadline.remaining());
    }

    /** One call of a method that cannot fail by itself. */
    <A, R> Outcome<R> callBare(RpcMethod<A, R> method, A args, Deadline deadline) {
        return rpc.call(method, args, deadline.remaining());
    }

    /** A batch call; when the call as a whole fails, so does each of its {@code size} items. */
    <A, T> List<Outcome<T>> callBatch(
            RpcMethod<A, List<Outcome<T>>> method, A args, int size, Deadline deadline) {
        return each(rpc.call(method, args, deadline.remaining()), size);
    }

    /** A Start of one thing. */
    <A, T> Outcome<Started<T>> start(RpcMethod<A, Outcome<T>> method, A args, Deadline deadline) {
        return started(method, args, deadline)
                .then(started -> started.answer.map(own -> new Started<>(own, started.term)));
    }

    /** A Start of a batch; when the call as a whole fails, so does each of its items. */
    <A, T> Started<List<Outcome<T>>> startBatch(
            RpcMethod<A, List<Outcome<T>>> method, A args, int size, Deadline deadline) {
        Outcome<Started<List<Outcome<T>>>> started = started(method, args, deadline);
        return new Started<>(
                each(started.map(Started::answer), size),
                started instanceof Outcome.Ok<Started<List<Outcome<T>>>>(var ok)
                        ? ok.term
                        : Deadline.never(clock));
    }

    private <A, R> Outcome<Started<R>> started(RpcMethod<A, R> method, A args, Deadline deadline) {
        if (!tellsTerms) {
            return callBare(method, args, deadline)
                    .map(answer -> new Started<>(answer, Deadline.never(clock)));
        }
        long sentNanos = clock.nanos();
        return rpc.exchange(method, args, ASKS_TERM, deadline.remaining())
                .map(reply -> new Started<>(reply.result(), term(reply.attachment(), sentNanos)));
    }

    private Deadline term(Attachment attachment, long sentNanos) {
        return attachment
                .find(Attachment.TERM)
                .filter(term -> term.length() == Long.BYTES)
                .map(term -> ByteBuffer.wrap(term.array()).order(ByteOrder.LITTLE_ENDIAN).getLong())
                .map(ttlMs -> new Deadline(clock, until(ttlMs, sentNanos)))
                .orElseGet(() -> Deadline.never(clock));
    }

    /**
     * As the other {@code callBatch}, for an End or a Revoke.
     *
     * @param puts for each item the id of the first replica that its Start answered
     */
    <A, T> List<Outcome<T>> callBatch(
            RpcMethod<A, List<Outcome<T>>> method, A args, List<Long> puts, Deadline deadline) {
        if (!namesPuts) {
            return callBatch(method, args, puts.size(), deadline);
        }
        Attachment named = naming(puts);
        return each(
                rpc.exchange(method, args, named, deadline.remaining()).map(Reply::result),
                puts.size());
    }

    /**
     * One call of an End or Revoke of a copy or move.
     *
     * @param copy id of the first target that its Start answered, or of the source
     */
    <A, T> Outcome<T> call(RpcMethod<A, Outcome<T>> method, A args, long copy, Deadline deadline) {
        return namesPuts
                ? rpc.exchange(method, args, naming(List.of(copy)), deadline.remaining())
                        .then(Reply::result)
                : call(method, args, deadline);
    }

    /**
     * Has a replica with wrong bytes leave service; a failure is only logged.
     *
     * @param found the object, of a master that numbers versions
     */
    void drop(
            ByteString key,
            ByteString tenant,
            Found found,
            ReplicaDescriptor replica,
            Deadline deadline) {
        DropReplica drop = new DropReplica(key, tenant, found.version(), replica.id());
        if (call(CheckedMethods.DROP_REPLICA, drop, deadline)
                instanceof Outcome.Failed<Boolean> failed) {
            LOG.log(
                    Level.WARNING,
                    "corrupt replica not reported key={0} code={1}",
                    Keys.show(key),
                    failed.code().label());
        }
    }

    private static Attachment naming(List<Long> ids) {
        ByteBuffer bytes =
                ByteBuffer.allocate(ids.size() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        ids.forEach(bytes::putLong);
        return Attachment.NONE.with(Attachment.PUTS, ByteString.wrap(bytes.array()));
    }

    private static <T> List<Outcome<T>> each(Outcome<List<Outcome<T>>> answer, int size) {
        return switch (answer) {
            case Outcome.Ok<List<Outcome<T>>>(List<Outcome<T>> items) ->
                    items.size() == size ? items : Collections.nCopies(size, mismatch(items, size));
            case Outcome.Failed<List<Outcome<T>>> failed -> Collections.nCopies(size, failed.as());
        };
    }

    private static <T> Outcome<T> mismatch(List<?> items, int size) {
        return Outcome.failed(
                StoreCode.RPC_FAIL,
                "the master answered " + items.size() + " items to a batch of " + size);
    }

    /** Finds replicas and leases what it finds. */
    Outcome<Leased> acquire(
            List<ByteString> keys, ByteString tenant, boolean prefixOnly, Deadline deadline) {
        long sentNanos = clock.nanos();
        Acquire request = new Acquire(keys, tenant, prefixOnly, 0);
        if (checked) {
            return ask(CheckedMethods.ACQUIRE_CHECKED, request, deadline)
                    .map(acquired -> leased(acquired, sentNanos));
        }
        if (cassia) {
            return ask(CassiaMethods.ACQUIRE, request, deadline)
                    .map(acquired -> leased(acquired, sentNanos));
        }
        Args.Keys plain = new Args.Keys(keys, tenant);
        List<Outcome<ReplicaList>> lists =
                askBatch(MasterMethods.BATCH_GET_REPLICA_LIST, plain, keys.size(), deadline);
        return Outcome.ok(plain(lists, prefixOnly, sentNanos));
    }

    /** How many leading keys are readable; they get the lease of a question. */
    Outcome<Integer> longestPrefix(List<ByteString> keys, ByteString tenant, Deadline deadline) {
        if (can("longest-prefix")) {
            LongestPrefix question = new LongestPrefix(keys, tenant, 0, false, false);
            return ask(CassiaMethods.LONGEST_PREFIX, question, deadline)
                    .map(hit -> Math.toIntExact(hit.count()));
        }
        return acquire(keys, tenant, true, deadline)
                .map(
                        leased -> {
                            release(leased, deadline);
                            return leased.objects().size();
                        });
    }

    private static Leased leased(CheckedAcquired acquired, long sentNanos) {
        List<Outcome<Found>> objects = new ArrayList<>(acquired.objects().size());
        for (Outcome<CheckedObject> object : acquired.objects()) {
            objects.add(
                    object.map(
                            found ->
                                    new Found(
                                            found.replicas(),
                                            found.version(),
                                            found.crc64(),
                                            found.sums())));
        }
        return new Leased(objects, acquired.leaseId(), until(acquired.leaseTtlMs(), sentNanos));
    }

    private static Leased leased(Acquired acquired, long sentNanos) {
        List<Outcome<Found>> objects = new ArrayList<>(acquired.objects().size());
        for (Outcome<List<ReplicaDescriptor>> object : acquired.objects()) {
            objects.add(object.map(replicas -> unproved(replicas, OptionalLong.empty())));
        }
        return new Leased(objects, acquired.leaseId(), until(acquired.leaseTtlMs(), sentNanos));
    }

    private static Found unproved(List<ReplicaDescriptor> replicas, OptionalLong crc64) {
        return new Found(replicas, 0, crc64, ByteString.EMPTY);
    }

    /**
     * When this client stops trusting a lease, or a term: before the master ends it, although the
     * master counts from later than the request was sent, and although the two clocks do not run
     * equally fast.
     */
    static long until(long ttlMs, long sentNanos) {
        long nanos = TimeUnit.MILLISECONDS.toNanos(ttlMs);
        return sentNanos + nanos - nanos / DRIFT_SHARE;
    }

    /** A Mooncake master leases each key by itself; the shortest one counts. */
    private static Leased plain(
            List<Outcome<ReplicaList>> lists, boolean prefixOnly, long sentNanos) {
        List<Outcome<Found>> objects = new ArrayList<>(lists.size());
        long ttlMs = Long.MAX_VALUE;
        for (Outcome<ReplicaList> list : lists) {
            if (list instanceof Outcome.Ok<ReplicaList>(ReplicaList found)) {
                ttlMs = Math.min(ttlMs, found.leaseTtlMs());
            } else if (prefixOnly) {
                break;
            }
            objects.add(list.map(found -> unproved(found.replicas(), found.objectChecksum())));
        }
        return new Leased(objects, 0, until(ttlMs == Long.MAX_VALUE ? 0 : ttlMs, sentNanos));
    }

    /**
     * Makes written objects readable; the versions, 0 from a master that keeps none.
     *
     * @param puts for each object the id of the first replica that its Start answered, so that an
     *     End that arrives late cannot end a later put of the same client
     */
    List<Outcome<Long>> end(
            Uuid client,
            List<WrittenObject> written,
            List<Long> puts,
            ByteString tenant,
            Deadline deadline) {
        if (checked) {
            EndChecked end = new EndChecked(client, written, tenant);
            return callBatch(CheckedMethods.END_CHECKED, end, puts, deadline);
        }
        List<ObjectMeta> metas = new ArrayList<>(written.size());
        for (WrittenObject object : written) {
            metas.add(new ObjectMeta(object.key(), object.crc64()));
        }
        Args.BatchPutEnd end =
                new Args.BatchPutEnd(client, metas, ReplicaType.ALL.number(), tenant);
        List<Outcome<Long>> versions = new ArrayList<>(written.size());
        for (Outcome<Done> ended : callBatch(MasterMethods.BATCH_PUT_END, end, puts, deadline)) {
            versions.add(ended.map(done -> 0L));
        }
        return versions;
    }

    /**
     * Gives a lease back without waiting for the answer. It travels ahead of the next request of
     * this link, in the same write, or alone after a millisecond or two; if it is lost the lease
     * runs out by itself.
     */
    void release(Leased leased, Deadline deadline) {
        if (leased.leaseId() != 0) {
            soon(CassiaMethods.RELEASE, new Release(List.of(leased.leaseId())), deadline);
        }
    }

    /** Tells the master something whose answer nobody needs, ahead of the next request. */
    <A, R> void soon(RpcMethod<A, R> method, A args, Deadline deadline) {
        rpc.callSoon(method, args, deadline.remaining());
    }

    /** One call that ends puts of so many objects and may bring space for the next one. */
    <A> Outcome<Ended> end(
            RpcMethod<A, Outcome<Ended>> method, A args, int size, Deadline deadline) {
        return call(method, args, deadline)
                .then(
                        ended ->
                                ended.versions().size() == size
                                        ? Outcome.ok(ended)
                                        : mismatch(ended.versions(), size));
    }

    @Override
    public void close() {
        closed = true;
        rpc.close();
    }
}
