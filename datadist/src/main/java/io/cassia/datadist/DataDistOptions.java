package io.cassia.datadist;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.datadist.link.Credentials;
import io.cassia.datadist.link.IpInfo;
import io.cassia.datadist.link.LinkTable;
import io.cassia.datadist.memory.PoolConfig;
import io.cassia.status.Outcome;
import io.cassia.transfer.Security;
import io.cassia.transfer.transport.Transport;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * How an instance is set up. Immutable; made by {@link #builder()} or from the field's string keys
 * by {@link #parse}.
 *
 * @param listen where to listen; needed by a prompt while roles gate
 * @param syncTimeout limit of transfers, copies and checks that are given none ({@code
 *     llm.SyncKvCacheWaitTime})
 * @param devicePool pool of device-tagged caches
 * @param hostPool pool of host-tagged caches
 * @param switchRole whether the role can be set ({@code llm.EnableSwitchRole})
 * @param roleGating whether roles decide who may link, pull and push ({@code llm.RoleGating})
 * @param remoteAccess told to peers; both ends of a link have to agree
 * @param linkChannels operations of one kind at a time on a link
 * @param maxLinks most links
 * @param linkRetryCount attempts to connect within the timeout of a call
 * @param heartbeat silence after which a peer is asked for a sign of life
 * @param heartbeatMisses a link breaks after this many heartbeats of silence
 * @param relinkTries attempts to make a broken link again; 0: none
 * @param keyTtl keys that nobody pulled are removed after this time; empty: never
 * @param keyWait how long pulls let the owner wait for a key that is not there yet
 * @param credentials token and TLS of control connections
 * @param dataHost address under which peers reach the data plane; empty: chosen
 * @param transports what may carry bytes, the fastest that fits being taken
 * @param dataSecurity how the ends of the data plane prove themselves; both ends have to agree on
 *     whether they do
 * @param unknownKeys keys that {@link #parse} did not know
 * @param idleKeys keys that are known, valid, and have no effect here
 */
public record DataDistOptions(
        Optional<IpInfo> listen,
        Duration syncTimeout,
        Pool devicePool,
        Pool hostPool,
        boolean switchRole,
        boolean roleGating,
        boolean remoteAccess,
        int linkChannels,
        int maxLinks,
        int linkRetryCount,
        Duration heartbeat,
        int heartbeatMisses,
        int relinkTries,
        Optional<Duration> keyTtl,
        Duration keyWait,
        Credentials credentials,
        Optional<String> dataHost,
        Set<Transport> transports,
        Security dataSecurity,
        List<String> unknownKeys,
        List<String> idleKeys) {
    /** Size of a pool that nobody configured; its memory is taken at the first allocation. */
    public static final long DEFAULT_POOL_BYTES = 256L << 20;

    /**
     * A pool and when its memory is taken. Immutable.
     *
     * @param config its size and cut
     * @param eager whether at the start, which then fails without it, or at the first allocation
     */
    public record Pool(PoolConfig config, boolean eager) {
        static final Pool DEFAULT =
                new Pool(
                        new PoolConfig(DEFAULT_POOL_BYTES, PoolConfig.ALIGNMENT, List.of()), false);
    }

    public DataDistOptions {
        if (transports.isEmpty()) {
            throw new IllegalArgumentException("no transport is allowed");
        }
        transports = Collections.unmodifiableSet(EnumSet.copyOf(transports));
        unknownKeys = List.copyOf(unknownKeys);
        idleKeys = List.copyOf(idleKeys);
    }

    /**
     * From string keys: those of the C++ and Python APIs, and Cassia's own. {@code
     * LLM_PARAM_INVALID} naming the key and what is wrong with its value. Unknown keys are kept in
     * {@link #unknownKeys()}.
     */
    public static Outcome<DataDistOptions> parse(Map<String, String> options) {
        return OptionKeys.parse(options);
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Confined to one thread. Begins with the defaults. */
    public static final class Builder {
        private Optional<IpInfo> listen = Optional.empty();
        private Duration syncTimeout = Duration.ofSeconds(1);
        private Pool devicePool = Pool.DEFAULT;
        private Pool hostPool = Pool.DEFAULT;
        private boolean switchRole;
        private boolean roleGating = true;
        private boolean remoteAccess = true;
        private int linkChannels = 1;
        private int maxLinks = LinkTable.DEFAULT_MAX_LINKS;
        private int linkRetryCount = 1;
        private Duration heartbeat = Duration.ofSeconds(2);
        private int heartbeatMisses = 3;
        private int relinkTries;
        private Optional<Duration> keyTtl = Optional.empty();
        private Duration keyWait = Duration.ZERO;
        private Credentials credentials = Credentials.NONE;
        private Optional<String> dataHost = Optional.empty();
        private Set<Transport> transports = EnumSet.allOf(Transport.class);
        private Security dataSecurity = Security.PLAIN;
        private List<String> unknownKeys = List.of();
        private List<String> idleKeys = List.of();

        private Builder() {}

        /** Where to listen; port 0 for any free one. */
        @CanIgnoreReturnValue
        public Builder listen(String host, int port) {
            listen = Optional.of(new IpInfo(host, port));
            return this;
        }

        @CanIgnoreReturnValue
        public Builder syncTimeout(Duration value) {
            requirePositive("syncTimeout", value);
            syncTimeout = value;
            return this;
        }

        /** Takes the memory at the start. */
        @CanIgnoreReturnValue
        public Builder devicePool(PoolConfig value) {
            devicePool = new Pool(value, true);
            return this;
        }

        /** Takes the memory at the start. */
        @CanIgnoreReturnValue
        public Builder hostPool(PoolConfig value) {
            hostPool = new Pool(value, true);
            return this;
        }

        @CanIgnoreReturnValue
        public Builder switchRole(boolean value) {
            switchRole = value;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder roleGating(boolean value) {
            roleGating = value;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder remoteAccess(boolean value) {
            remoteAccess = value;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder linkChannels(int value) {
            linkChannels = requireRange("linkChannels", value, 1, 64);
            return this;
        }

        @CanIgnoreReturnValue
        public Builder maxLinks(int value) {
            maxLinks = requireRange("maxLinks", value, 1, Integer.MAX_VALUE);
            return this;
        }

        @CanIgnoreReturnValue
        public Builder linkRetryCount(int value) {
            linkRetryCount = requireRange("linkRetryCount", value, 1, 100);
            return this;
        }

        /** Silence after which a peer is asked, and how many such silences break the link. */
        @CanIgnoreReturnValue
        public Builder heartbeat(Duration every, int misses) {
            requirePositive("heartbeat", every);
            heartbeat = every;
            heartbeatMisses = requireRange("heartbeatMisses", misses, 1, 1000);
            return this;
        }

        @CanIgnoreReturnValue
        public Builder relinkTries(int value) {
            relinkTries = requireRange("relinkTries", value, 0, 1_000_000);
            return this;
        }

        @CanIgnoreReturnValue
        public Builder keyTtl(Duration value) {
            requirePositive("keyTtl", value);
            keyTtl = Optional.of(value);
            return this;
        }

        @CanIgnoreReturnValue
        public Builder keyWait(Duration value) {
            keyWait = value;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder credentials(Credentials value) {
            credentials = value;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder dataHost(String value) {
            dataHost = Optional.of(value);
            return this;
        }

        @CanIgnoreReturnValue
        public Builder transports(Set<Transport> value) {
            transports = value;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder dataSecurity(Security value) {
            dataSecurity = value;
            return this;
        }

        @CanIgnoreReturnValue
        Builder keys(List<String> unknown, List<String> idle) {
            unknownKeys = unknown;
            idleKeys = idle;
            return this;
        }

        public DataDistOptions build() {
            return new DataDistOptions(
                    listen,
                    syncTimeout,
                    devicePool,
                    hostPool,
                    switchRole,
                    roleGating,
                    remoteAccess,
                    linkChannels,
                    maxLinks,
                    linkRetryCount,
                    heartbeat,
                    heartbeatMisses,
                    relinkTries,
                    keyTtl,
                    keyWait,
                    credentials,
                    dataHost,
                    transports,
                    dataSecurity,
                    unknownKeys,
                    idleKeys);
        }

        private static int requireRange(String name, int value, int min, int max) {
            if (value < min || value > max) {
                throw new IllegalArgumentException(name + " " + value);
            }
            return value;
        }

        private static void requirePositive(String name, Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException(name + " " + value);
            }
        }
    }
}
