package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LinkResult;
import io.cassia.datadist.link.LlmRole;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may link: token and TLS on the control channel. */
final class SecurityTest {
    private final List<LlmDataDist> open = new ArrayList<>();

    @AfterEach
    void close() {
        open.forEach(LlmDataDist::close);
    }

    @Test
    void clusters_with_one_token_link() throws IOException {
        LlmDataDist prompt = prompt(Map.of("llm.Token", "open sesame"));
        LlmDataDist decoder = decoder(Map.of("llm.Token", "open sesame"));
        Expect.ok(link(decoder, prompt).overall());
        Expect.ok(decoder.checkLinkStatus(1));
    }

    @Test
    void a_wrong_or_missing_token_is_refused_and_leaves_nothing() throws IOException {
        LlmDataDist prompt = prompt(Map.of("llm.Token", "open sesame"));
        Expect.failed(
                link(decoder(Map.of("llm.Token", "open barley")), prompt).entries().getFirst(),
                LlmStatus.LLM_LINK_FAILED,
                "token");
        Expect.failed(
                link(decoder(Map.of()), prompt).entries().getFirst(),
                LlmStatus.LLM_LINK_FAILED,
                "asks for a token");
        assertThat(prompt.links()).isEmpty();
    }

    @Test
    void a_peer_that_cannot_prove_the_token_is_not_trusted_either() throws IOException {
        LlmDataDist prompt = prompt(Map.of());
        LlmDataDist decoder = decoder(Map.of("llm.Token", "open sesame"));
        Expect.failed(
                link(decoder, prompt).entries().getFirst(),
                LlmStatus.LLM_LINK_FAILED,
                "does not know this side's token");
        assertThat(decoder.links()).isEmpty();
        assertThat(Clusters.eventually(() -> prompt.links().isEmpty())).isTrue();
    }

    @Test
    void control_connections_can_be_encrypted(@TempDir Path dir) throws Exception {
        Map<String, String> tls = certificates(dir);
        LlmDataDist prompt = prompt(tls);
        LlmDataDist decoder = decoder(tls);
        Expect.ok(link(decoder, prompt).overall());
        CacheDesc desc = CacheDesc.device(2, DataType.INT8, 1, 100);
        Cache src = prompt.allocateCache(desc).orThrow();
        Cache dst = decoder.allocateCache(desc).orThrow();
        Clusters.fill(src, 9);
        Expect.ok(decoder.pullCache(new CacheIndex(1, src.cacheId()), dst));
        assertThat(dst.tensors().get(1).mismatch(src.tensors().get(1))).isEqualTo(-1);
        Expect.ok(decoder.unlinkClusters(List.of(ClusterInfo.of(1))).overall());

        LlmDataDist plain = decoder(Map.of());
        Expect.failed(
                link(plain, prompt).entries().getFirst(),
                LlmStatus.LLM_LINK_FAILED,
                "refused",
                "this cluster asks for TLS");
        assertThat(prompt.links()).isEmpty();
        LlmDataDist plainPrompt = prompt(Map.of());
        Expect.failed(
                link(decoder(tls), plainPrompt).entries().getFirst(),
                LlmStatus.LLM_LINK_FAILED,
                "TLS");
    }

    @Test
    void bytes_can_be_encrypted_too_and_both_ends_have_to_agree(@TempDir Path dir)
            throws Exception {
        Map<String, String> control = new HashMap<>(certificates(dir));
        control.put("llm.Token", "a token of more than sixteen characters");
        Map<String, String> all = new HashMap<>(control);
        all.put("llm.DataTls", "1");
        // Between instances of one process of the same realm a copy would do.
        all.put("llm.DataTransports", "tcp");
        LlmDataDist prompt = prompt(all);
        LlmDataDist decoder = decoder(all);
        Expect.ok(link(decoder, prompt).overall());
        CacheDesc desc = CacheDesc.device(2, DataType.INT8, 1, 100_000);
        Cache src = prompt.allocateCache(desc).orThrow();
        Cache dst = decoder.allocateCache(desc).orThrow();
        Clusters.fill(src, 9);
        Expect.ok(decoder.pullCache(new CacheIndex(1, src.cacheId()), dst));
        assertThat(dst.tensors().get(1).mismatch(src.tensors().get(1))).isEqualTo(-1);
        Clusters.fill(src, 10);
        Expect.ok(prompt.pushCache(src, new CacheIndex(decoder.clusterId(), dst.cacheId())));
        assertThat(dst.tensors().get(1).mismatch(src.tensors().get(1))).isEqualTo(-1);

        Expect.failed(
                link(decoder(control), prompt).entries().getFirst(),
                LlmStatus.LLM_LINK_FAILED,
                "llm.DataTls differs: 0 there, 1 here");
        assertThat(prompt.links()).hasSize(1);
    }

    @Test
    void a_plain_engine_reads_nothing_of_a_secure_cluster(@TempDir Path dir) throws Exception {
        Map<String, String> all = new HashMap<>(certificates(dir));
        all.put("llm.Token", "a token of more than sixteen characters");
        all.put("llm.DataTls", "1");
        LlmDataDist prompt = prompt(all);
        Cache _ = prompt.allocateCache(CacheDesc.device(1, DataType.INT8, 1, 64)).orThrow();
        Expect.ok(link(decoder(all), prompt).overall());
        String segment = prompt.segmentName().orElseThrow();
        try (TransferEngine plain =
                TransferEngine.start(
                                TransferConfig.p2p("127.0.0.1"),
                                Clock.system(),
                                new SimpleMeterRegistry())
                        .orThrow()) {
            Outcome<?> seen = plain.openSegment(segment).then(plain::remoteBuffers);
            assertThat(seen).isInstanceOf(Outcome.Failed.class);
            assertThat(seen.toString()).contains("ERR_REJECT_HANDSHAKE");
        }
    }

    private static Map<String, String> certificates(Path dir) throws Exception {
        String store = dir.resolve("key.p12").toString();
        Process keytool =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "keytool")
                                        .toString(),
                                "-genkeypair",
                                "-alias",
                                "cassia",
                                "-keyalg",
                                "EC",
                                "-dname",
                                "CN=cassia-test",
                                "-ext",
                                "san=ip:127.0.0.1",
                                "-storetype",
                                "PKCS12",
                                "-storepass",
                                "changeit",
                                "-keystore",
                                store)
                        .redirectErrorStream(true)
                        .start();
        String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(output).isZero();
        // A certificate that signs itself is trusted by whoever has it; both ends have it here.
        return Map.of(
                "llm.ControlTls",
                "1",
                "llm.TlsKeyStore",
                store,
                "llm.TlsTrustStore",
                trust(dir, store),
                "llm.TlsPassword",
                "changeit");
    }

    private static String trust(Path dir, String store) throws Exception {
        var keys = KeyStore.getInstance(Path.of(store).toFile(), "changeit".toCharArray());
        var trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("cassia", keys.getCertificate("cassia"));
        Path file = dir.resolve("trust.p12");
        try (var out = Files.newOutputStream(file)) {
            trusted.store(out, "changeit".toCharArray());
        }
        return file.toString();
    }

    private LlmDataDist prompt(Map<String, String> more) throws IOException {
        Map<String, String> options = new HashMap<>(more);
        options.put("llm.ListenIpInfo", "127.0.0.1:" + Clusters.freePort());
        return start(1, LlmRole.PROMPT, options);
    }

    private LlmDataDist decoder(Map<String, String> more) {
        return start(2 + open.size(), LlmRole.DECODER, new HashMap<>(more));
    }

    private LlmDataDist start(long id, LlmRole role, Map<String, String> options) {
        options.put("llm.DeviceId", "0");
        options.put("llm.DataHost", "127.0.0.1");
        LlmDataDist made = new LlmDataDist(id, role);
        Expect.ok(made.initialize(options));
        open.add(made);
        return made;
    }

    private static LinkResult link(LlmDataDist decoder, LlmDataDist prompt) {
        return decoder.linkClusters(List.of(Clusters.at(prompt)), Clusters.LONG);
    }
}
