package io.cassia.transfer.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.HostPort;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MetadataAddressTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "P2PHANDSHAKE|P2PHANDSHAKE",
                "http://10.0.0.1:8080/metadata|http://10.0.0.1:8080/metadata",
                "https://meta/any/path|https://meta/any/path",
                "etcd://a:2379,b:2380|etcd://a:2379,b:2380",
                "etcd://a, b:1|etcd://a:2379,b:1",
                "10.0.0.1:2379|etcd://10.0.0.1:2379",
                "a:1,[fe80::1]:2|etcd://a:1,[fe80::1]:2",
                "redis://host|redis://host:6379",
                "redis://host:7000|redis://host:7000",
                "redis://[::1]:7000|redis://[::1]:7000"
            })
    void connection_strings_are_read(String text, String printed) {
        assertThat(MetadataAddress.parse(text).orThrow()).hasToString(printed);
    }

    @Test
    void members_of_a_cluster_are_kept_in_order() {
        assertThat(MetadataAddress.parse("etcd://b:1,a:2"))
                .isEqualTo(
                        Outcome.ok(
                                new MetadataAddress.Etcd(
                                        List.of(new HostPort("b", 1), new HostPort("a", 2)))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zookeeper://a:1",
                "",
                "p2phandshake",
                "host",
                "host:",
                "host:99999",
                "a:1,,b:2",
                "a:1,",
                "etcd://",
                "etcd://a:x",
                "etcd://a:1/path",
                "redis://",
                "redis://a:1/3",
                "redis://a:1,b:2",
                "redis://a:1:x",
                "http://",
                "http:///metadata",
                "http://a b/"
            })
    void anything_else_is_invalid_and_named(String text) {
        assertThat(MetadataAddress.parse(text))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
                            assertThat(failed.detail())
                                    .startsWith("metadata \"" + text + "\": ")
                                    .contains("P2PHANDSHAKE", "etcd://", "redis://");
                        });
    }

    @Test
    void an_unknown_scheme_is_named() {
        assertThat(MetadataStores.open("zookeeper://a:1", MetadataOptions.DEFAULT))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed ->
                                assertThat(failed.detail())
                                        .contains("the scheme \"zookeeper\" is unknown"));
    }

    @Test
    void a_password_in_the_address_is_refused_and_not_repeated() {
        assertThat(MetadataAddress.parse("redis://me:s3cret@host:1"))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed ->
                                assertThat(failed.detail())
                                        .contains("MC_REDIS_PASSWORD")
                                        .doesNotContain("s3cret"));
    }

    @Test
    void peers_that_ask_each_other_have_no_store() {
        assertThat(MetadataStores.open("P2PHANDSHAKE", MetadataOptions.DEFAULT).orThrow())
                .isEmpty();
    }

    /** A process whose class path lacks the clients of etcd and Redis. */
    @Test
    void the_clients_of_etcd_and_redis_are_not_loaded_for_other_stores() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!entry.matches(".*(jetcd|jedis|netty|grpc|vertx|commons-pool).*")) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        try (URLClassLoader bare =
                new URLClassLoader(
                        urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Class<?> stores = bare.loadClass("io.cassia.transfer.metadata.MetadataStores");
            Class<?> options = bare.loadClass("io.cassia.transfer.metadata.MetadataOptions");
            Object standard = options.getField("DEFAULT").get(null);
            Object opened =
                    stores.getMethod("open", String.class, options)
                            .invoke(null, "http://127.0.0.1:1/metadata", standard);
            assertThat(opened.toString()).contains("HttpMetadataStore");
        }
    }
}
