package io.cassia.app.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceReaderTest {
    @TempDir Path dir;

    private static Outcome<Trace> read(String text) {
        return TraceReader.read(
                "t.jsonl",
                new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)),
                Long.MAX_VALUE);
    }

    private static Trace trace(String text) {
        return read(text).orThrow();
    }

    @Test
    void requests_are_read_with_their_blocks_and_times() {
        Trace trace =
                trace(
                        """
                        {"timestamp": 0, "input_length": 9, "output_length": 5, "hash_ids": [7, 8]}

                        {"hash_ids": [7, -1, 9223372036854775807], "extra": {"a": [1]}, "timestamp": 3000.7}
                        {"hash_ids": []}
                        """);
        assertThat(trace.requests()).isEqualTo(3);
        assertThat(trace.blocks()).isEqualTo(5);
        assertThat(trace.start(1)).isEqualTo(2);
        assertThat(trace.end(1)).isEqualTo(5);
        assertThat(trace.id(3)).isEqualTo(-1);
        assertThat(trace.id(4)).isEqualTo(Long.MAX_VALUE);
        assertThat(trace.timestampMillis(1)).isEqualTo(3000);
        assertThat(trace.timestampMillis(2)).isEqualTo(3000);
        assertThat(trace.longestRequest()).isEqualTo(3);
        assertThat(trace.distinctBlocks()).isEqualTo(4);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"hash_ids\": [1, 2                 | t.jsonl:2",
                "{\"timestamp\": 1}                   | hash_ids is missing",
                "{\"hash_ids\": [1, \"a\"]}           | integers in hash_ids",
                "{\"hash_ids\": [1.5]}                | integers in hash_ids",
                "{\"hash_ids\": 5}                    | an array in hash_ids",
                "{\"hash_ids\": null}                 | an array in hash_ids",
                "{\"hash_ids\": [9223372036854775808]}| t.jsonl:2",
                "{\"hash_ids\": [1]} {}               | text behind the object",
                "{\"hash_ids\": [1], \"timestamp\": \"x\"} | timestamp is not a number",
                "[1, 2]                               | an object",
                "7                                    | an object",
                "hello                                | t.jsonl:2",
            })
    void a_malformed_line_is_named_with_file_and_line(String line, String expected) {
        Outcome<Trace> outcome = read("{\"hash_ids\": [1]}\n" + line + "\n{\"hash_ids\": [3]}\n");
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(StoreCode.INVALID_PARAMS);
                            assertThat(failed.detail())
                                    .startsWith("t.jsonl:2: ")
                                    .contains(expected)
                                    .doesNotContain("\n");
                        });
    }

    @Test
    void a_trace_cut_in_its_last_line_is_an_error_not_a_shorter_trace() {
        assertThat(read("{\"hash_ids\": [1]}\n{\"hash_ids\": [1, 2").isOk()).isFalse();
    }

    @Test
    void the_limit_counts_requests_and_lines_behind_it_are_not_looked_at() {
        String text = "{\"hash_ids\": [1]}\n{\"hash_ids\": [2]}\nrubbish\n";
        Outcome<Trace> two =
                TraceReader.read(
                        "t", new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), 2);
        assertThat(two.orThrow().requests()).isEqualTo(2);
    }

    @Test
    void files_follow_each_other_in_time() throws IOException {
        Path one = Files.writeString(dir.resolve("a"), "{\"timestamp\": 50, \"hash_ids\": [1]}");
        Path two = Files.writeString(dir.resolve("b"), "{\"timestamp\": 5, \"hash_ids\": [1]}");
        Trace trace = TraceReader.read(List.of(one, two), 100).orThrow();
        assertThat(trace.timestampMillis(1)).isEqualTo(55);
    }

    @Test
    void a_missing_file_and_an_empty_trace_are_told() throws IOException {
        Path empty = Files.writeString(dir.resolve("empty"), "\n\n");
        Path missing = dir.resolve("missing.jsonl");
        assertThat(TraceReader.read(List.of(missing), 1))
                .isEqualTo(
                        Outcome.failed(
                                StoreCode.FILE_NOT_FOUND, "trace " + missing + ": no such file"));
        assertThat(TraceReader.read(List.of(empty), 1))
                .isEqualTo(
                        Outcome.failed(
                                StoreCode.INVALID_PARAMS,
                                "the trace [" + empty + "] holds no request"));
    }
}
