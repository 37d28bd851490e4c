package io.cassia.master.core;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.rpc.cassia.CassiaMessages.ClientInfo;
import io.cassia.rpc.mooncake.ClientStatus;
import io.cassia.rpc.mooncake.PingResult;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Confined to the master's lock. Clients by their last sign of life (spec mooncake-store 4.2, 4.3).
 *
 * <pre>
 *   unknown ──ping, mount──► NEED_REMOUNT ──remount──► OK ──silent──► suspected ──silent for
 *      ▲                                               ▲                 │         long──► unknown
 *      └── wiped: its segments are unmounted           └─ any sign of life ┘
 * </pre>
 *
 * A suspected client's data is kept: a pause is not a death. Its segments take no new replicas, and
 * an object that only it holds does not count as existing until it is heard of again; who reads the
 * object anyway finds out himself. A time in which the master itself stood still does not count as
 * silence.
 */
final class ClientTable {
    /** Beside the numbers of {@link ClientStatus}. */
    private static final int SUSPECTED = 3;

    private static final class Client {
        long heardAt;
        long stalledBefore;
        boolean ok;
        boolean suspected;
    }

    private final CoreState state;
    private final Mounts mounts;
    private final Copies copies;
    private final TaskTable tasks;
    private final Reservations reservations;

    /** Longest silent first. */
    private final Map<Uuid, Client> clients = new LinkedHashMap<>();

    private long stalledNanos;
    private long lastTick;
    private int active;

    ClientTable(
            CoreState state,
            Mounts mounts,
            Copies copies,
            TaskTable tasks,
            Reservations reservations) {
        this.state = state;
        this.mounts = mounts;
        this.copies = copies;
        this.tasks = tasks;
        this.reservations = reservations;
    }

    Outcome<PingResult> ping(Uuid id) {
        if (isFull(id)) {
            return Outcome.failed(
                    StoreCode.INTERNAL_ERROR,
                    "clients=" + clients.size() + ", which is the limit; client " + id);
        }
        Client client = hear(id);
        ClientStatus status = client.ok ? ClientStatus.OK : ClientStatus.NEED_REMOUNT;
        return Outcome.ok(new PingResult(0, status.number()));
    }

    boolean isFull(Uuid id) {
        return clients.size() >= state.config.maxClients() && !clients.containsKey(id);
    }

    /** A sign of life. */
    @CanIgnoreReturnValue
    private Client hear(Uuid id) {
        Client client = clients.remove(id);
        if (client == null) {
            client = new Client();
        }
        if (client.suspected) {
            client.suspected = false;
            active += client.ok ? 1 : 0;
            mounts.suspect(id, false);
            state.effects.add(new Effect.ClientReturned(id, state.now - client.heardAt));
        }
        client.heardAt = state.now;
        client.stalledBefore = stalledNanos + lateNanos();
        clients.put(id, client);
        return client;
    }

    void mounted(Uuid id) {
        hear(id);
    }

    void remounted(Uuid id) {
        Client client = hear(id);
        if (!client.ok) {
            client.ok = true;
            active++;
        }
    }

    boolean isOk(Uuid id) {
        Client client = clients.get(id);
        return client != null && client.ok;
    }

    /**
     * How late the timer is now. Who is heard of before it has run again was not silent during the
     * stall and gets nothing for it.
     */
    private long lateNanos() {
        long gap = state.now - lastTick;
        boolean late = lastTick != 0 && gap > 2 * state.config.tickNanos();
        return late ? gap - state.config.tickNanos() : 0;
    }

    /** Measures how late the timer is. */
    void tick() {
        long stalled = lateNanos();
        if (stalled > 0) {
            stalledNanos += stalled;
            state.counters.add(CoreCount.STALLED_NANOS, stalled);
            if (stalled > state.config.clientTtlNanos() / 4) {
                state.effects.add(new Effect.TimerStalled(stalled));
            }
        }
        lastTick = state.now;
    }

    /** Suspects clients that are silent, and forgets those that were silent for too long. */
    void expire() {
        Iterator<Map.Entry<Uuid, Client>> entries = clients.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry<Uuid, Client> entry = entries.next();
            Client client = entry.getValue();
            long silent = state.now - client.heardAt - (stalledNanos - client.stalledBefore);
            if (silent <= state.config.clientTtlNanos()) {
                return;
            }
            if (!client.suspected) {
                suspect(entry.getKey(), client, silent);
            }
            // Without segments there is nothing to keep.
            if (silent > state.config.wipeNanos() || !mounts.hasAny(entry.getKey())) {
                entries.remove();
                wipe(entry.getKey(), silent);
            }
        }
    }

    private void suspect(Uuid id, Client client, long silent) {
        client.suspected = true;
        active -= client.ok ? 1 : 0;
        int segments = mounts.suspect(id, true);
        state.counters.add(CoreCount.CLIENTS_SUSPECTED, 1);
        state.effects.add(new Effect.ClientSuspected(id, silent, segments));
    }

    private void wipe(Uuid id, long silent) {
        copies.giveUpAll(id);
        tasks.failAll(id);
        reservations.dropAll(id);
        int segments = mounts.unmountAll(id);
        state.counters.add(CoreCount.CLIENTS_EXPIRED, 1);
        state.effects.add(new Effect.ClientExpired(id, silent, segments));
    }

    /** One client, or all, the longest silent first, when the id is zero. */
    Outcome<List<ClientInfo>> list(Uuid id) {
        if (id.first() == 0 && id.second() == 0) {
            List<ClientInfo> all = new ArrayList<>(clients.size());
            clients.forEach((each, client) -> all.add(info(each, client)));
            return Outcome.ok(all);
        }
        Client client = clients.get(id);
        return client == null
                ? Outcome.failed(
                        StoreCode.CLIENT_NOT_FOUND,
                        "client " + id + " has not pinged, or was silent for too long")
                : Outcome.ok(List.of(info(id, client)));
    }

    private ClientInfo info(Uuid id, Client client) {
        ClientStatus status = client.ok ? ClientStatus.OK : ClientStatus.NEED_REMOUNT;
        return new ClientInfo(
                id,
                client.suspected ? SUSPECTED : status.number(),
                TimeUnit.NANOSECONDS.toMillis(state.now - client.heardAt),
                mounts.namesOf(id));
    }

    void digest(Digest digest) {
        clients.forEach(
                (id, client) -> {
                    digest.add(id);
                    digest.add(client.heardAt);
                    digest.add(client.stalledBefore);
                    digest.add(client.ok ? 1 : 0);
                    digest.add(client.suspected ? 1 : 0);
                });
        digest.add(stalledNanos);
        digest.add(lastTick);
    }

    /** Clients that are OK. */
    int active() {
        return active;
    }

    int tracked() {
        return clients.size();
    }
}
