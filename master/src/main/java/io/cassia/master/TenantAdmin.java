package io.cassia.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.ByteString;
import io.cassia.master.core.Command;
import io.cassia.rpc.cassia.CassiaMessages.TenantQuota;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Guarded. Changes of the tenants' quotas: in the core and, when there is one, in the policy file.
 * A change that cannot be written down is taken back (spec mooncake-store 9.2).
 */
final class TenantAdmin {
    private final MasterLoop loop;
    private final @Nullable TenantPolicyFile file;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final SequencedMap<ByteString, Long> policy = new TreeMap<>();

    private TenantAdmin(MasterLoop loop, @Nullable TenantPolicyFile file) {
        this.loop = loop;
        this.file = file;
    }

    /** Quotas live as long as the master. */
    static TenantAdmin inMemory(MasterLoop loop) {
        return new TenantAdmin(loop, null);
    }

    /** Registers what the file holds; FILE_NOT_FOUND and the like when it cannot be read. */
    static Outcome<TenantAdmin> withFile(MasterLoop loop, TenantPolicyFile file) {
        return file.load()
                .then(
                        quotas -> {
                            TenantAdmin admin = new TenantAdmin(loop, file);
                            return admin.register(quotas).map(_ -> admin);
                        });
    }

    private Outcome<Done> register(SequencedMap<ByteString, Long> quotas) {
        lock.lock();
        try {
            for (var each : quotas.entrySet()) {
                Outcome<TenantQuota> set =
                        loop.apply(new Command.SetTenantQuota(each.getKey(), each.getValue()));
                if (set instanceof Failed<TenantQuota> failed) {
                    return failed.as();
                }
            }
            policy.putAll(quotas);
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Registers a tenant or changes its quota; PERSISTENT_FAIL leaves all as it was. Not to be
     * called by a thread that holds the loop's lock.
     */
    Outcome<TenantQuota> set(ByteString tenant, long requestedBytes) {
        lock.lock();
        try {
            Outcome<Done> checked =
                    loop.apply(new Command.CheckTenantQuota(tenant, requestedBytes));
            if (checked instanceof Failed<Done> failed) {
                return failed.as();
            }
            Long before = policy.put(tenant, requestedBytes);
            Outcome<Done> saved = save();
            if (saved instanceof Failed<Done> failed) {
                restore(tenant, before);
                return failed.as();
            }
            return loop.apply(new Command.SetTenantQuota(tenant, requestedBytes));
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void restore(ByteString tenant, @Nullable Long before) {
        if (before == null) {
            policy.remove(tenant);
        } else {
            policy.put(tenant, before);
        }
    }

    /** Takes a tenant's right to write; TENANT_NOT_EMPTY while it has objects. As {@link #set}. */
    Outcome<Done> delete(ByteString tenant) {
        lock.lock();
        try {
            Long before = policy.get(tenant);
            Outcome<Done> deleted = loop.apply(new Command.DeleteTenantQuota(tenant));
            if (!deleted.isOk()) {
                return deleted;
            }
            policy.remove(tenant);
            Outcome<Done> saved = save();
            if (!saved.isOk() && before != null) {
                policy.put(tenant, before);
                loop.apply(new Command.SetTenantQuota(tenant, before)).orThrow();
            }
            return saved;
        } finally {
            lock.unlock();
        }
    }

    /** One tenant, or all when the name is empty; OBJECT_NOT_FOUND when unknown. */
    Outcome<List<TenantQuota>> list(ByteString tenant) {
        return loop.apply(new Command.TenantQuotas(tenant));
    }

    @GuardedBy("lock")
    private Outcome<Done> save() {
        return file == null ? Outcome.done() : file.save(policy);
    }
}
