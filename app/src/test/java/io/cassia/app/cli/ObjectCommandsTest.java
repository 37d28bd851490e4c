package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ObjectCommandsTest {
    private final FakeBackend backend = new FakeBackend();
    @TempDir Path dir;

    @AfterEach
    void every_connection_is_closed() {
        assertThat(backend.open).isZero();
    }

    private void store(String key, int bytes) {
        backend.objects.put(ByteString.of(key), new byte[bytes]);
    }

    @Test
    void a_file_goes_in_and_comes_back_byte_for_byte() throws IOException {
        byte[] content = new byte[100_000];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) ((i * 31) >> 3);
        }
        Path in = Files.write(dir.resolve("in"), content);
        Path out = dir.resolve("out");

        CliRun put = CliRun.of(backend, "put", "k", in.toString());
        assertThat(put.exit()).isZero();
        assertThat(put.out()).isEqualTo("stored k, 97.66 KiB\n");
        assertThat(put.err()).isEmpty();

        assertThat(CliRun.of(backend, "get", "k").outBytes()).isEqualTo(content);
        CliRun get = CliRun.of(backend, "get", "k", "-o", out.toString(), "--json");
        assertThat(get.json().get("bytes").asLong()).isEqualTo(content.length);
        assertThat(out).hasBinaryContent(content);
        assertThat(dir.resolve("out.part")).doesNotExist();
    }

    @Test
    void standard_input_is_stored_up_to_its_limit() {
        byte[] input = new byte[3 << 20];
        input[input.length - 1] = 7;
        CliRun put = CliRun.of(backend, input, "put", "--json", "k", "-");
        assertThat(put.json().get("bytes").asLong()).isEqualTo(input.length);
        assertThat(backend.objects.get(ByteString.of("k"))).isEqualTo(input);

        CliRun tooLong = CliRun.of(backend, input, "put", "l", "-", "--max-bytes", "2MiB");
        assertThat(tooLong.exit()).isEqualTo(2);
        assertThat(tooLong.err()).contains("INVALID_PARAMS(-600)").contains("--max-bytes 2097152");
    }

    @Test
    void put_passes_replicas_and_pin() {
        CliRun run = CliRun.of(backend, "put", "k", "-", "--replicas", "3", "--hard-pin");
        assertThat(run.exit()).isZero();
        assertThat(backend.lastPut.replicate().replicaNum()).isEqualTo(3);
        assertThat(backend.lastPut.replicate().withHardPin()).isTrue();
    }

    @Test
    void a_failure_is_one_line_a_hint_and_an_exit_code() {
        CliRun get = CliRun.of(backend, "get", "nothing");
        assertThat(get.exit()).isEqualTo(3);
        assertThat(get.outBytes()).isEmpty();
        assertThat(get.err())
                .isEqualTo(
                        """
                        error: OBJECT_NOT_FOUND(-704): get nothing: no such object
                        run './cassia explain -704' for its cause and remedy
                        """);
    }

    @Test
    void with_json_a_failure_is_a_document_too() {
        store("k", 1);
        CliRun put = CliRun.of(backend, "put", "k", "-", "--json");
        assertThat(put.exit()).isEqualTo(4);
        assertThat(put.json().get("exitCode").asInt()).isEqualTo(4);
        assertThat(put.json().get("error").get("code").asString())
                .isEqualTo("OBJECT_ALREADY_EXISTS");
        assertThat(put.json().get("error").get("number").asInt()).isEqualTo(-705);
        assertThat(put.json().get("error").get("family").asString()).isEqualTo("store");
    }

    @Test
    void a_missing_file_and_a_missing_folder_are_named() throws IOException {
        CliRun put = CliRun.of(backend, "put", "k", dir.resolve("absent").toString());
        assertThat(put.exit()).isEqualTo(3);
        assertThat(put.err()).contains("FILE_NOT_FOUND").contains("absent: no such file");
        CliRun folder = CliRun.of(backend, "put", "k", dir.toString());
        assertThat(folder.exit()).isEqualTo(2);
        assertThat(folder.err()).contains("INVALID_PARAMS").contains(dir + ": it is a directory");
        assertThat(backend.objects).isEmpty();
        store("k", 1);
        CliRun get = CliRun.of(backend, "get", "k", "-o", dir.resolve("no/where").toString());
        assertThat(get.exit()).isEqualTo(3);
        assertThat(get.err()).contains("no such file");
        Path into = Files.createDirectory(dir.resolve("d"));
        CliRun directory = CliRun.of(backend, "get", "k", "-o", into.toString());
        assertThat(directory.exit()).isEqualTo(2);
        assertThat(directory.err()).contains(into + ": it is a directory");
        assertThat(dir.resolve("d.part")).doesNotExist();
    }

    @Test
    void a_failed_get_leaves_an_older_file_alone() throws IOException {
        Path old = Files.writeString(dir.resolve("old"), "old");
        store("k", 5);
        backend.fail(StoreCode.LEASE_EXPIRED, "too slow");
        CliRun get = CliRun.of(backend, "get", "k", "-o", old.toString());
        assertThat(get.exit()).isEqualTo(5);
        assertThat(old).hasContent("old");
        assertThat(dir.resolve("old.part")).doesNotExist();
    }

    @Test
    void get_refuses_an_object_above_its_limit_and_json_without_a_file() {
        store("k", 100);
        assertThat(CliRun.of(backend, "get", "k", "--max-bytes", "99").exit()).isEqualTo(2);
        assertThat(CliRun.of(backend, "get", "k", "--json").exit()).isEqualTo(2);
    }

    @Test
    void exists_answers_by_exit_code() {
        store("a", 1);
        assertThat(CliRun.of(backend, "exists", "a").exit()).isZero();
        CliRun both = CliRun.of(backend, "exists", "a", "b");
        assertThat(both.exit()).isEqualTo(3);
        assertThat(both.out()).isEqualTo("yes  a\nno   b\n");
        assertThat(CliRun.of(backend, "exists", "a", "b", "--json").out())
                .isEqualTo(
                        "{\"keys\":[{\"key\":\"a\",\"exists\":true},{\"key\":\"b\",\"exists\":false}]}\n");
        backend.fail(StoreCode.RPC_FAIL, "master gone");
        assertThat(CliRun.of(backend, "exists", "a").exit()).isEqualTo(5);
    }

    @Test
    void rm_removes_keys_or_everything_but_never_by_accident() {
        store("a", 1);
        store("b", 1);
        store("c", 1);
        assertThat(CliRun.of(backend, "rm").exit()).isEqualTo(2);
        assertThat(CliRun.of(backend, "rm", "a", "--all").exit()).isEqualTo(2);
        assertThat(backend.objects).hasSize(3);
        CliRun some = CliRun.of(backend, "rm", "a", "nothing", "b");
        assertThat(some.exit()).isEqualTo(3);
        assertThat(some.err()).contains("remove nothing").contains("(removed 1 before)");
        assertThat(CliRun.of(backend, "rm", "b", "--force").out()).isEqualTo("removed 1 object\n");
        assertThat(backend.log).contains("remove b true");
        assertThat(CliRun.of(backend, "rm", "--all", "--json").out())
                .isEqualTo("{\"removed\":1}\n");
    }

    @Test
    void ls_goes_through_all_pages_in_order_and_tells_when_it_stops() {
        for (int i = 0; i < 2500; i++) {
            store("p/%04d".formatted(i), i);
        }
        store("q", 1);
        CliRun all = CliRun.of(backend, "ls", "--prefix", "p/", "--json");
        assertThat(all.json().get("keys")).hasSize(2500);
        assertThat(all.json().get("keys").get(2499).get("key").asString()).isEqualTo("p/2499");
        assertThat(all.json().get("more").asBoolean()).isFalse();
        CliRun some = CliRun.of(backend, "ls", "--limit", "1000");
        assertThat(some.out().lines()).hasSize(1000);
        assertThat(some.err()).contains("more than 1000 keys");
    }

    @Test
    void ls_does_not_hand_control_characters_to_the_terminal() {
        backend.objects.put(
                ByteString.wrap("a\u001b[2Jb".getBytes(StandardCharsets.UTF_8)), new byte[1]);
        assertThat(CliRun.of(backend, "ls").out()).contains("a\\x1b[2Jb").doesNotContain("\u001b");
    }

    @Test
    void stat_shows_the_pool_or_one_object() {
        store("k", 2048);
        store("kk", 1);
        CliRun pool = CliRun.of(backend, "stat");
        assertThat(pool.out())
                .contains("2.00 KiB of 4 KiB used (50.0 %)")
                .contains("evicted   3 objects, 300 B")
                .contains("segment   node-1");
        assertThat(CliRun.of(backend, "stat", "--json").json().get("evictedObjects").asInt())
                .isEqualTo(3);
        assertThat(CliRun.of(backend, "stat", "k").out()).contains("size      2 KiB");
        assertThat(CliRun.of(backend, "stat", "kkk").exit()).isEqualTo(3);
        assertThat(CliRun.of(backend, "stat", "").exit()).isEqualTo(3);
    }

    @Test
    void the_connection_is_what_the_flags_say() {
        assertThat(
                        CliRun.of(
                                        backend,
                                        "stat",
                                        "--master_server_address=10.0.0.1:7",
                                        "--tenant",
                                        "t",
                                        "--timeout",
                                        "1500ms")
                                .exit())
                .isZero();
        assertThat(backend.log.getFirst())
                .contains("master=10.0.0.1:7")
                .contains("metadata=http://10.0.0.1:8080/metadata")
                .contains("tenant=t")
                .contains("deadline=PT1.5S");
    }
}
