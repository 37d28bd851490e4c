package io.cassia.datadist.bench;

import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The other end of a demonstration or measurement, in this process or in one of its own. Confined
 * to one thread. It does what a line says and answers with a line; {@link ServingPeer} lists them.
 */
public interface Counterpart extends AutoCloseable {
    /** Its cluster id. */
    long CLUSTER = 1;

    /** Its answer; {@code LLM_FAILED} when it has gone, or the code that it failed with. */
    Outcome<String> ask(String line);

    @Override
    void close();

    /** Reads a line that {@link #line} wrote. */
    static Outcome<String> parse(String line) {
        String[] words = line.split(" ", 3);
        return switch (words[0]) {
            case "ok" -> Outcome.ok(line.substring("ok".length()).strip());
            case "failed" -> Outcome.failed(LlmStatus.valueOf(words[1]), words[2]);
            default -> Outcome.failed(LlmStatus.LLM_FAILED, "the other end said: " + line);
        };
    }

    /** An outcome as one line. */
    static String line(Outcome<String> outcome) {
        return switch (outcome) {
            case Outcome.Ok<String>(String value) -> "ok " + value;
            case Outcome.Failed<String> failed ->
                    "failed %s %s"
                            .formatted(
                                    failed.code() instanceof LlmStatus status
                                            ? status.name()
                                            : LlmStatus.LLM_FAILED.name(),
                                    failed.detail().replace('\n', ' '));
        };
    }

    /** Numbers as one word. */
    static String word(long[] numbers) {
        return Arrays.stream(numbers).mapToObj(Long::toString).collect(Collectors.joining(","));
    }

    /** The numbers of such a word. */
    static long[] numbers(String word) {
        return Arrays.stream(word.split(",", -1)).mapToLong(Long::parseLong).toArray();
    }
}
