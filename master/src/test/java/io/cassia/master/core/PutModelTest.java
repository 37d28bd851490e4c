package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.code;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.cassia.CassiaMessages.Acquired;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.StoreCode;
import io.cassia.testkit.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Objects of one size in one segment against a naive model: every code and every victim agrees. */
class PutModelTest {
    private static final long LEASE = Duration.ofSeconds(10).toNanos();
    private static final long DISCARD = Duration.ofSeconds(30).toNanos();
    private static final long RELEASE = Duration.ofMinutes(10).toNanos();

    private static final class Item {
        Uuid writer;
        long started;
        boolean complete;
        boolean pinned;
        long used;
        long readUntil = Long.MIN_VALUE;
        long existUntil = Long.MIN_VALUE;
        final List<Long> leases = new ArrayList<>();

        Item(Uuid writer, long started, boolean pinned) {
            this.writer = writer;
            this.started = started;
            this.pinned = pinned;
        }
    }

    private static final class Model {
        final int capacity;
        final Map<String, Item> items = new HashMap<>();

        /** When discarded space comes back. */
        final List<Long> discarded = new ArrayList<>();

        /** In the order of their ends. */
        final Map<Long, Long> leaseEnds = new LinkedHashMap<>();

        long uses;

        Model(int capacity) {
            this.capacity = capacity;
        }

        void pass(long now) {
            discarded.removeIf(end -> end <= now);
            items.values().removeIf(item -> !item.complete && item.started + RELEASE <= now);
            leaseEnds
                    .entrySet()
                    .removeIf(
                            lease -> {
                                boolean over = lease.getValue() <= now;
                                if (over) {
                                    end(lease.getKey());
                                }
                                return over;
                            });
        }

        private void end(long id) {
            items.values()
                    .forEach(
                            item -> {
                                if (item.leases.removeIf(held -> held == id)
                                        && item.leases.isEmpty()) {
                                    item.used = ++uses;
                                }
                            });
        }

        boolean leased(Item item, long now) {
            return !item.leases.isEmpty() || item.readUntil > now || item.existUntil > now;
        }

        Code start(String key, Uuid client, boolean pinned, long now) {
            Item there = items.get(key);
            if (there != null && (there.complete || there.started + DISCARD >= now)) {
                return StoreCode.OBJECT_ALREADY_EXISTS;
            }
            if (items.size() + discarded.size() >= capacity && !evict(now)) {
                return StoreCode.NO_AVAILABLE_HANDLE;
            }
            if (there != null && there.started + RELEASE > now) {
                discarded.add(there.started + RELEASE);
            }
            items.put(key, new Item(client, now, pinned));
            return StoreCode.OK;
        }

        void complete(String key) {
            Item item = items.get(key);
            if (item != null) {
                item.complete = true;
                item.used = ++uses;
            }
        }

        private boolean evict(long now) {
            String victim =
                    items.entrySet().stream()
                            .filter(
                                    e ->
                                            e.getValue().complete
                                                    && !e.getValue().pinned
                                                    && e.getValue().leases.isEmpty()
                                                    && e.getValue().readUntil <= now)
                            .min(
                                    Comparator.comparing(
                                                    (Map.Entry<String, Item> e) ->
                                                            e.getValue().existUntil > now)
                                            .thenComparingLong(e -> e.getValue().used))
                            .map(Map.Entry::getKey)
                            .orElse(null);
            return victim != null && items.remove(victim) != null;
        }
    }

    @Test
    void every_answer_is_the_models() {
        Seeds.forEach(10, seed -> run(new SplittableRandom(seed)));
    }

    private static void run(SplittableRandom random) {
        int capacity = 3 + random.nextInt(20);
        Harness master = new Harness();
        master.mount(A, 11, "node-a:1", capacity * KIB);
        Model model = new Model(capacity);
        for (int step = 0; step < 3000; step++) {
            int pause = random.nextInt(30);
            master.run(pause == 0 ? Duration.ofSeconds(random.nextInt(45)) : Duration.ZERO, A);
            master.now += random.nextInt(400_000_000);
            Harness.ok(master.ping(A));
            master.apply(new Command.Tick());
            model.pass(master.now);
            oneStep(random, master, model, "k" + random.nextInt(capacity * 2));
            List<String> there = new ArrayList<>();
            ObjectTable objects = master.core.state().objects;
            for (String key : model.items.keySet()) {
                if (objects.find(0, Harness.key(key).array()) != 0) {
                    there.add(key);
                }
            }
            assertThat(there).as("step %d", step).hasSameElementsAs(model.items.keySet());
            assertThat(objects.count()).isEqualTo(model.items.size());
        }
        CoreChecks.verify(master.core);
    }

    private static void oneStep(SplittableRandom random, Harness master, Model model, String key) {
        long now = master.now;
        Uuid client = random.nextInt(4) == 0 ? B : A;
        @Nullable Item item = model.items.get(key);
        boolean readable = item != null && item.complete;
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> {
                boolean pin = random.nextInt(40) == 0;
                Code expected = model.start(key, client, pin, now);
                Code got =
                        code(
                                master.start(
                                        client,
                                        key,
                                        KIB,
                                        pin ? Harness.hardPinned() : Harness.replicas(1)));
                assertThat(got).as("start").isEqualTo(expected);
                if (got == StoreCode.OK && random.nextInt(5) > 0) {
                    assertThat(code(master.end(client, key))).isEqualTo(StoreCode.OK);
                    model.complete(key);
                }
            }
            case 3 -> {
                Code expected = owner(item, client);
                if (expected == StoreCode.OK && !readable) {
                    model.complete(key);
                }
                assertThat(code(master.end(client, key))).as("end").isEqualTo(expected);
            }
            case 4 -> {
                Code expected = owner(item, client);
                if (expected == StoreCode.OK && readable) {
                    expected = StoreCode.INVALID_WRITE;
                } else if (expected == StoreCode.OK) {
                    model.items.remove(key);
                }
                assertThat(code(master.revoke(client, key))).as("revoke").isEqualTo(expected);
            }
            case 5 -> {
                assertThat(master.exist(key).orThrow()).as("exist").isEqualTo(readable);
                if (item != null && readable) {
                    item.existUntil = now + LEASE;
                }
            }
            case 6 -> {
                if (item != null && readable) {
                    item.readUntil = now + LEASE;
                    item.used = ++model.uses;
                }
                assertThat(code(master.get(key)))
                        .as("get")
                        .isEqualTo(
                                item == null
                                        ? StoreCode.OBJECT_NOT_FOUND
                                        : readable ? StoreCode.OK : StoreCode.REPLICA_IS_NOT_READY);
            }
            case 7 -> {
                Acquired acquired = master.acquire(false, 0, key);
                assertThat(acquired.leaseId() != 0).as("acquire").isEqualTo(readable);
                if (item != null && readable) {
                    item.leases.add(acquired.leaseId());
                    model.leaseEnds.put(acquired.leaseId(), now + LEASE);
                }
            }
            case 8 -> {
                if (!model.leaseEnds.isEmpty()) {
                    long id = model.leaseEnds.keySet().stream().sorted().findFirst().orElse(0L);
                    model.leaseEnds.remove(id);
                    model.end(id);
                    master.release(id);
                }
            }
            default -> {
                boolean force = random.nextInt(10) == 0;
                assertThat(code(master.remove(key, force)))
                        .as("remove")
                        .isEqualTo(remove(model, key, item, force, now));
            }
        }
    }

    private static Code owner(@Nullable Item item, Uuid client) {
        if (item == null) {
            return StoreCode.OBJECT_NOT_FOUND;
        }
        return item.writer.equals(client) ? StoreCode.OK : StoreCode.ILLEGAL_CLIENT;
    }

    private static Code remove(
            Model model, String key, @Nullable Item item, boolean force, long now) {
        if (item == null) {
            return StoreCode.OBJECT_NOT_FOUND;
        }
        if (!force && model.leased(item, now)) {
            return StoreCode.OBJECT_HAS_LEASE;
        }
        if (!item.complete) {
            return StoreCode.REPLICA_IS_NOT_READY;
        }
        model.items.remove(key);
        long until =
                item.leases.isEmpty()
                        ? item.readUntil
                        : Math.max(
                                item.readUntil,
                                model.leaseEnds.values().stream()
                                        .mapToLong(Long::longValue)
                                        .max()
                                        .orElse(0));
        if (until > now) {
            model.discarded.add(until);
        }
        return StoreCode.OK;
    }
}
