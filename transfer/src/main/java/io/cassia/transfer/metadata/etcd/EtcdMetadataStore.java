package io.cassia.transfer.metadata.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.metadata.BoundedCall;
import io.cassia.transfer.metadata.MetadataAddress;
import io.cassia.transfer.metadata.MetadataOptions;
import io.cassia.transfer.metadata.MetadataStore;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdException;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.options.PutOption;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Metadata in an etcd cluster; values end with a newline (spec 5.3). Guarded.
 *
 * <p>Entries hang on a lease that this store keeps alive: they vanish when it is closed, or the
 * time to live after its process died.
 */
public final class EtcdMetadataStore implements MetadataStore {
    private static final System.Logger LOG = System.getLogger(EtcdMetadataStore.class.getName());
    private static final String LOST_LEASE = "lease not found";

    private final MetadataAddress.Etcd address;
    private final MetadataOptions options;
    private final Clock clock = Clock.system();
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private @Nullable Session current;

    @GuardedBy("lock")
    private boolean closed;

    private EtcdMetadataStore(MetadataAddress.Etcd address, MetadataOptions options) {
        this.address = address;
        this.options = options;
    }

    /** A client of a cluster. No I/O yet. */
    public static EtcdMetadataStore open(MetadataAddress.Etcd address, MetadataOptions options) {
        EtcdMetadataStore store = new EtcdMetadataStore(address, options);
        // Its many classes are loaded now, and not in the time of the first request.
        var _ = store.session();
        return store;
    }

    @Override
    public Outcome<Optional<String>> find(String key, Duration timeout) {
        return call("get", key, deadline(timeout), session -> session.kv().get(bytes(key)))
                .map(EtcdMetadataStore::value);
    }

    private static Optional<String> value(GetResponse response) {
        return response.getKvs().stream()
                .findFirst()
                .map(pair -> pair.getValue().toString(StandardCharsets.UTF_8))
                .map(text -> text.endsWith("\n") ? text.substring(0, text.length() - 1) : text);
    }

    @Override
    public Outcome<Done> put(String key, String value) {
        Deadline deadline = deadline(options.requestTimeout());
        Outcome<Done> outcome = put(key, value, deadline);
        boolean lostLease =
                outcome instanceof Outcome.Failed<Done>(var _, String detail)
                        && detail.contains(LOST_LEASE);
        // The cluster was emptied, or cut off from here for longer than the lease: take a new one.
        return lostLease ? put(key, value, deadline) : outcome;
    }

    private Outcome<Done> put(String key, String value, Deadline deadline) {
        return call(
                        "put",
                        key,
                        deadline,
                        session ->
                                session.lease()
                                        .thenCompose(
                                                lease ->
                                                        session.kv()
                                                                .put(
                                                                        bytes(key),
                                                                        bytes(value + "\n"),
                                                                        under(lease)))
                                        .thenApply(
                                                response -> {
                                                    session.wrote(
                                                            key,
                                                            response.getHeader().getRevision());
                                                    return response;
                                                }))
                .then(_ -> Outcome.done());
    }

    private static PutOption under(long lease) {
        return PutOption.builder().withLeaseId(lease).build();
    }

    /** Asks only whether the entry is still what this store wrote, and writes it when it is not. */
    @Override
    public Outcome<Done> keep(String key, String value) {
        Optional<OptionalLong> revision =
                session().map(session -> session.revision(key)).filter(OptionalLong::isPresent);
        if (revision.isEmpty()) {
            return put(key, value);
        }
        CmpTarget<?> ours = CmpTarget.modRevision(revision.get().getAsLong());
        return call(
                        "check",
                        key,
                        deadline(options.requestTimeout()),
                        session ->
                                session.kv()
                                        .txn()
                                        .If(new Cmp(bytes(key), Cmp.Op.EQUAL, ours))
                                        .commit())
                .map(TxnResponse::isSucceeded)
                .then(unchanged -> unchanged ? Outcome.done() : put(key, value));
    }

    @Override
    public Outcome<Done> remove(String key) {
        return call(
                        "delete",
                        key,
                        deadline(options.requestTimeout()),
                        session -> {
                            session.forget(key);
                            return session.kv().delete(bytes(key));
                        })
                .then(_ -> Outcome.done());
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    private Deadline deadline(Duration timeout) {
        return Deadline.after(clock, timeout);
    }

    private Optional<Session> session() {
        lock.lock();
        try {
            if (current == null && !closed) {
                Session[] self = new Session[1];
                self[0] = new Session(address, options, () -> drop(self[0]));
                current = self[0];
            }
            return Optional.ofNullable(current);
        } finally {
            lock.unlock();
        }
    }

    private void drop(Session lost) {
        lock.lock();
        try {
            if (current != lost) {
                return;
            }
            current = null;
        } finally {
            lock.unlock();
        }
        // Closing waits for the client's threads, of which the caller may be one.
        Thread.ofVirtual().name("cassia-etcd-close").start(lost::close);
    }

    private <T> Outcome<T> call(
            String command,
            String key,
            Deadline deadline,
            Function<Session, CompletableFuture<T>> request) {
        String attempted = "%s %s at %s".formatted(command, key, address);
        Optional<Session> session = session();
        if (session.isEmpty()) {
            return failed(attempted, "the store is closed");
        }
        if (deadline.hasPassed()) {
            return failed(attempted, "the deadline is over");
        }
        CompletableFuture<T> running = request.apply(session.get());
        try {
            return Outcome.ok(running.get(deadline.remaining().toNanos(), TimeUnit.NANOSECONDS));
        } catch (TimeoutException e) {
            running.cancel(true);
            drop(session.get());
            return failed(attempted, "no answer in time; is etcd up, and has it a leader?");
        } catch (InterruptedException e) {
            running.cancel(true);
            Thread.currentThread().interrupt();
            return failed(attempted, "interrupted");
        } catch (ExecutionException e) {
            Throwable thrown = e.getCause() == null ? e : e.getCause();
            String cause = BoundedCall.describe(thrown);
            if (isConnectionLost(thrown) || cause.contains(LOST_LEASE)) {
                drop(session.get());
            }
            return failed(attempted, cause);
        }
    }

    private static boolean isConnectionLost(Throwable cause) {
        return !(cause instanceof EtcdException etcd)
                || etcd.getErrorCode() == ErrorCode.UNAVAILABLE
                || etcd.getErrorCode() == ErrorCode.CANCELLED;
    }

    private static <T> Outcome<T> failed(String attempted, String why) {
        return Outcome.failed(TransferCode.ERR_METADATA, attempted + ": " + why);
    }

    @Override
    public void close() {
        Session last;
        lock.lock();
        try {
            closed = true;
            last = current;
            current = null;
        } finally {
            lock.unlock();
        }
        if (last == null) {
            return;
        }
        try {
            last.revoke().get(options.requestTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(System.Logger.Level.DEBUG, "etcd-lease-not-revoked store={0}", address, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        last.close();
    }
}
