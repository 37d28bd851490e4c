package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.SoftPinAction;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import io.cassia.status.StoreCode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Immutable. What a put may ask for, in the order of the table in spec mooncake-store 3.2. */
final class PutRules {
    /** Bytes; upstream has no limit but that of its messages. */
    static final int LONGEST_KEY = 65_535;

    private PutRules() {}

    /** Null when the put may go on; else why not. */
    static @Nullable Failed<List<ReplicaDescriptor>> check(Args.PutStart put, CoreConfig limits) {
        ReplicateConfig config = put.config();
        long memory = config.replicaNum();
        long nof = config.nofReplicaNum();
        long dfs = config.dfsReplicaNum();
        if (memory == 0 && nof == 0 && dfs == 0) {
            return invalid("no replica is wanted");
        }
        if (put.key().isEmpty()) {
            return invalid("the key is empty");
        }
        if (put.key().length() > LONGEST_KEY) {
            return Outcome.failed(
                    StoreCode.INVALID_KEY,
                    "a key of " + put.key().length() + " bytes; the longest has " + LONGEST_KEY);
        }
        if (put.length() == 0) {
            return invalid("the value of key " + put.key() + " has no byte; it needs one at least");
        }
        if (dfs != 0) {
            return checkDfs(put);
        }
        if (nof != 0) {
            return invalid("nof_replica_num=" + nof + ": this master has no NVMe-oF segments");
        }
        String pin = softPinFault(config, limits);
        if (pin != null) {
            return invalid(pin);
        }
        if (config.groupIds().isPresent() && config.groupIds().get().size() != 1) {
            return invalid("group_ids has " + config.groupIds().get().size() + " ids for one key");
        }
        return null;
    }

    private static Failed<List<ReplicaDescriptor>> checkDfs(Args.PutStart put) {
        ReplicateConfig config = put.config();
        boolean defaultTenant = put.tenant().isEmpty() || put.tenant().equals(Tenants.DEFAULT_NAME);
        if (config.dfsReplicaNum() != 1 || config.replicaNum() == 0 || !defaultTenant) {
            return invalid(
                    "dfs_replica_num="
                            + Long.toUnsignedString(config.dfsReplicaNum())
                            + " must be 0 or 1, beside a memory replica, in the default tenant");
        }
        return Outcome.failed(
                StoreCode.DFS_SERVICE_UNAVAILABLE, "this master has no distributed file system");
    }

    private static @Nullable String softPinFault(ReplicateConfig config, CoreConfig limits) {
        Optional<SoftPinAction> action = SoftPinAction.find(config.softPinAction());
        if (action.isEmpty()) {
            return "unknown soft pin action " + config.softPinAction();
        }
        if (config.softPinTtlMs().isEmpty()) {
            return null;
        }
        long ttlMs = config.softPinTtlMs().getAsLong();
        if (action.get() != SoftPinAction.ENABLE) {
            return "soft_pin_ttl_ms=" + Long.toUnsignedString(ttlMs) + " without ENABLE";
        }
        long mostMs = TimeUnit.NANOSECONDS.toMillis(limits.maxSoftPinNanos());
        return ttlMs < 0 || ttlMs > mostMs
                ? "soft_pin_ttl_ms=" + Long.toUnsignedString(ttlMs) + " exceeds " + mostMs
                : null;
    }

    /** The object's group; empty when it is in none. */
    static ByteString group(ReplicateConfig config) {
        return config.groupIds().map(ids -> ids.getFirst()).orElse(ByteString.EMPTY);
    }

    /** Of a put that passed the check. */
    static PutTraits traits(ReplicateConfig config, CoreConfig limits) {
        long pin = PutTraits.PRESERVE;
        if (config.softPinAction() == SoftPinAction.ENABLE.number()) {
            pin =
                    config.softPinTtlMs().isPresent()
                            ? TimeUnit.MILLISECONDS.toNanos(config.softPinTtlMs().getAsLong())
                            : limits.softPinNanos();
        } else if (config.softPinAction() == SoftPinAction.DISABLE.number()) {
            pin = 0;
        }
        return new PutTraits(pin, config.withHardPin(), config.dataType());
    }

    private static Failed<List<ReplicaDescriptor>> invalid(String detail) {
        return Outcome.failed(StoreCode.INVALID_PARAMS, detail);
    }
}
