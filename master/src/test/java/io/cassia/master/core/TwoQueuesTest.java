package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.status.StoreCode;
import io.cassia.testkit.Seeds;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What the policy of two queues adds; that it keeps the rules of eviction, the simulation shows.
 */
class TwoQueuesTest {
    private final Harness master =
            new Harness(
                    settings -> {
                        settings.policy = EvictionPolicy.TWO_QUEUES;
                        return settings;
                    });

    @BeforeEach
    void mount() {
        master.mount(A, 11, "node-a:1", 16 * KIB);
    }

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    private boolean isThere(String key) {
        return master.core.state().objects.find(0, key.getBytes(StandardCharsets.UTF_8)) != 0;
    }

    private void letLeasesEnd() {
        master.run(Duration.ofSeconds(11), A, B);
    }

    private void flood(String name, int objects) {
        for (int i = 0; i < objects; i++) {
            master.put(name + i, KIB);
        }
    }

    @Test
    void a_flood_of_objects_that_nobody_reads_does_not_wash_out_those_that_are_read() {
        flood("read", 6);
        for (int i = 0; i < 6; i++) {
            ok(master.get("read" + i));
        }
        letLeasesEnd();
        flood("once", 100);
        for (int i = 0; i < 6; i++) {
            assertThat(isThere("read" + i)).isTrue();
        }
        assertThat(isThere("once99")).isTrue();
        assertThat(isThere("once89")).as("the oldest of the unread go").isFalse();
    }

    @Test
    void what_is_put_again_soon_after_it_went_counts_as_read() {
        flood("once", 17);
        assertThat(isThere("once0")).isFalse();
        master.put("once0", KIB);
        flood("flood", 100);
        assertThat(isThere("once0")).isTrue();
        assertThat(isThere("once16")).isFalse();
    }

    @Test
    void the_read_ones_go_too_when_they_take_more_than_their_half() {
        flood("read", 16);
        for (int i = 0; i < 16; i++) {
            ok(master.get("read" + i));
        }
        letLeasesEnd();
        flood("new", 4);
        assertThat(isThere("read0")).isFalse();
        assertThat(isThere("read3")).isFalse();
        assertThat(isThere("read4")).isTrue();
        assertThat(isThere("new0")).isTrue();
    }

    @Test
    void leases_pins_and_groups_protect_what_waits() {
        master.put("pinned", KIB, Harness.config(1, 0, OptionalLong.empty(), true, ""));
        master.put("soft", KIB, Harness.config(1, 1, OptionalLong.empty(), false, ""));
        master.put("asked", KIB);
        assertThat(ok(master.exist("asked"))).isTrue();
        ReplicateConfig group = GroupTest.in("g");
        master.put("member", KIB, group);
        master.put("leased", KIB, group);
        ok(master.get("leased"));
        flood("flood", 50);
        for (String key : new String[] {"pinned", "soft", "asked", "member", "leased"}) {
            assertThat(isThere(key)).as(key).isTrue();
        }
        assertThat(code(master.start(B, "large", 14 * KIB)))
                .as("a demand overrides weak protections, not the others")
                .isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(isThere("pinned")).isTrue();
        assertThat(isThere("member")).isTrue();
        assertThat(isThere("leased")).isTrue();
    }

    @Test
    void the_keys_that_went_are_as_many_as_a_plain_list_would_keep() {
        Seeds.forEach(
                50,
                seed -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    EvictedKeys keys = new EvictedKeys();
                    Deque<Long> order = new ArrayDeque<>();
                    Set<Long> remembered = new HashSet<>();
                    int range = 10 + random.nextInt(2000);
                    int most = 1 + random.nextInt(500);
                    for (int i = 0; i < 5000; i++) {
                        long hash = random.nextInt(range) * (random.nextBoolean() ? 1L : 1L << 32);
                        long key = hash == 0 ? 1 : hash;
                        if (random.nextInt(3) == 0) {
                            assertThat(keys.take(hash)).isEqualTo(remembered.remove(key));
                        } else {
                            keys.add(hash, most);
                            if (remembered.add(key)) {
                                while (order.size() >= most) {
                                    long oldest = order.removeFirst();
                                    if (oldest != key) {
                                        remembered.remove(oldest);
                                    }
                                }
                                order.addLast(key);
                            }
                        }
                        assertThat(keys.count()).isEqualTo(order.size());
                    }
                });
    }
}
