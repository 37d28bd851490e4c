package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.MIB;
import static io.cassia.master.core.Harness.TENANT;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.detail;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScanTest {
    private final Harness master =
            new Harness(
                    settings -> {
                        settings.multiTenant = true;
                        return settings;
                    });

    @BeforeEach
    void mount() {
        master.mount(A, 11, "node-a:1", 64 * MIB);
        for (String tenant : List.of("default", "a", "b", "other")) {
            master.quota(tenant, 8 * MIB);
        }
    }

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    private void put(String key, String tenant) {
        Args.PutStart put =
                new Args.PutStart(
                        A, Harness.key(key), 1, ReplicateConfig.DEFAULT, ByteString.of(tenant));
        ok(master.apply(new Command.PutStart(put)));
        ok(
                master.apply(
                        new Command.PutEnd(
                                new Args.PutEnd(
                                        A,
                                        new ObjectMeta(put.key(), OptionalLong.empty()),
                                        4,
                                        put.tenant()))));
    }

    @Test
    void remove_all_skips_what_is_leased_or_in_flight() {
        for (int i = 0; i < 20_000; i++) {
            master.put("k" + i, 1);
        }
        ok(master.get("k7"));
        ok(master.start(A, "flight", 1));
        assertThat(master.removeAll(Optional.of(TENANT), Optional.empty(), false))
                .isEqualTo(19_999);
        assertThat(master.stats().objects()).isEqualTo(2);
        assertThat(master.removeAll(Optional.of(TENANT), Optional.empty(), true)).isEqualTo(1);
        assertThat(master.stats().objects()).isEqualTo(1);
    }

    @Test
    void remove_all_keeps_to_its_tenant_unless_all_are_meant() {
        put("k", "default");
        put("k", "a");
        put("l", "a");
        put("k", "b");
        Optional<ByteString> a = Optional.of(ByteString.of("a"));
        assertThat(master.removeAll(a, Optional.empty(), false)).isEqualTo(2);
        assertThat(master.removeAll(a, Optional.empty(), false)).isZero();
        assertThat(master.removeAll(Optional.empty(), Optional.empty(), false)).isEqualTo(2);
    }

    @Test
    void a_tenant_keeps_its_number_while_its_only_object_is_taken_over() {
        Args.PutStart put =
                new Args.PutStart(
                        A, Harness.key("k"), 1, ReplicateConfig.DEFAULT, ByteString.of("a"));
        ok(master.apply(new Command.PutStart(put)));
        ok(master.apply(new Command.UpsertStart(put)));
        put("l", "b");
        assertThat(ok(master.apply(new Command.ExistKey(Harness.key("l"), ByteString.of("a")))))
                .isFalse();
        assertThat(master.apply(new Command.IsPresent(Harness.key("k"), ByteString.of("a"))))
                .isTrue();
    }

    @Test
    void an_object_made_while_remove_all_runs_is_not_met() {
        for (int i = 0; i < 10_000; i++) {
            master.put("k" + i, 1);
        }
        // The place of the last object becomes free; those of the first slice stay taken.
        for (int i = 0; i < 9000; i++) {
            ok(master.get("k" + i));
        }
        ok(master.remove("k9999", false));
        Selection all = new Selection(Optional.empty(), Optional.empty());
        Slice<Long> first = ok(master.apply(new Command.RemoveSlice(all, false, Cursor.START)));
        master.put("late", 1);
        assertThat(master.core.state().objects.find(0, "late".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(10_000);
        long rest = 0;
        Optional<Cursor> at = first.rest();
        while (at.isPresent()) {
            Slice<Long> next = ok(master.apply(new Command.RemoveSlice(all, false, at.get())));
            rest += next.part();
            at = next.rest();
        }
        assertThat(first.part() + rest).isEqualTo(999);
        assertThat(ok(master.exist("late"))).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "^b[12]$~b1 b2",
                "b~ab b1 b2 b[3",
                "^zz~''",
                "[[:digit:]]~b1 b2 b[3",
                "b[[]~b[3",
                "^..$~ab b1 b2",
                "(a|b)1~b1",
                "b(?!1)~ab b2 b[3",
                "[&&b]1~b1",
            })
    void expressions_are_searched_for_as_in_ecmascript(String regex, String expected) {
        for (String key : List.of("ab", "b1", "b2", "b[3", "xyz")) {
            put(key, "default");
        }
        put("b1", "other");
        Outcome<Slice<Map<ByteString, List<ReplicaDescriptor>>>> found =
                master.apply(
                        new Command.GetSlice(
                                new Selection(
                                        Optional.of(TENANT), Optional.of(ByteString.of(regex))),
                                Cursor.START));
        List<String> keys =
                new TreeSet<>(ok(found).part().keySet()).stream().map(ByteString::text).toList();
        assertThat(String.join(" ", keys)).isEqualTo(expected);
        // What was found is leased.
        for (String key : keys) {
            assertThat(code(master.remove(key, false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        }
        assertThat(master.removeAll(Optional.of(TENANT), Optional.of(regex), true))
                .isEqualTo(keys.size());
    }

    @Test
    void a_bad_expression_is_refused() {
        put("b1", "default");
        for (String bad : List.of("[", "(", "*", "a{2,1}", "[[:nope:]]", "x".repeat(5000))) {
            Outcome<Slice<Long>> refused = remove(bad);
            assertThat(code(refused)).as(bad).isEqualTo(StoreCode.INVALID_PARAMS);
        }
        assertThat(detail(remove("["))).contains("bad expression '['");
    }

    @Test
    void an_expression_that_explodes_is_stopped() {
        put("a".repeat(60) + "!", "default");
        assertThat(detail(remove("^(a+)+(a+)+(a+)+\\1\\2x$"))).contains("steps");
        assertThat(ok(remove("(a+)+!$")).part()).isEqualTo(1);
    }

    private Outcome<Slice<Long>> remove(String regex) {
        return master.apply(
                new Command.RemoveSlice(
                        new Selection(Optional.of(TENANT), Optional.of(ByteString.of(regex))),
                        false,
                        Cursor.START));
    }

    private List<KeyInfo> list(String prefix, String after, long limit) {
        ListKeys query = new ListKeys(ByteString.of(prefix), ByteString.of(after), limit, TENANT);
        TreeMap<ByteString, KeyInfo> page = new TreeMap<>();
        Optional<Cursor> at = Optional.of(Cursor.START);
        while (at.isPresent()) {
            at = master.core.list(query, at.get(), page, master.now);
        }
        return List.copyOf(page.values());
    }

    @Test
    void keys_are_listed_in_byte_order_page_by_page() {
        TreeSet<String> expected = new TreeSet<>();
        for (int i = 0; i < 20_000; i += 7) {
            put("p/" + i, "default");
            expected.add("p/" + i);
        }
        put("q", "default");
        put("p/x", "other");
        List<String> listed = new ArrayList<>();
        String after = "";
        while (true) {
            List<KeyInfo> page = list("p/", after, 1000);
            page.forEach(info -> listed.add(info.key().text()));
            if (page.size() < 1000) {
                break;
            }
            after = listed.getLast();
        }
        assertThat(listed).containsExactlyElementsOf(expected);
        assertThat(list("", "", 0)).isEmpty();
    }

    @Test
    void a_listing_tells_what_an_object_is() {
        put("a", "default");
        ok(master.start(A, "b", 77));
        master.acquire(false, 0, "a");
        assertThat(list("", "", 10))
                .containsExactly(
                        new KeyInfo(Harness.key("a"), 1, true, 1, 10_000),
                        new KeyInfo(Harness.key("b"), 77, false, 1, 0));
    }
}
