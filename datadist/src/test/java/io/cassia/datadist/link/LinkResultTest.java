package io.cassia.datadist.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rule of the spec (5.2). */
final class LinkResultTest {
    @ParameterizedTest
    @CsvSource({
        "SUCCESS, SUCCESS",
        "SUCCESS SUCCESS, SUCCESS",
        "WAIT_PROC_TIMEOUT, WAIT_PROC_TIMEOUT",
        "WAIT_PROC_TIMEOUT WAIT_PROC_TIMEOUT, WAIT_PROC_TIMEOUT",
        "WAIT_PROC_TIMEOUT SUCCESS, LINK_FAILED",
        "ALREADY_LINK SUCCESS, ALREADY_LINK",
        "SUCCESS PARAM_INVALID PARAM_INVALID, PARAM_INVALID",
        "ALREADY_LINK PARAM_INVALID, LINK_FAILED",
        "LINK_FAILED, LINK_FAILED",
        "TIMEOUT TIMEOUT, LINK_FAILED",
        "SUCCESS LINK_FAILED, LINK_FAILED",
        "ALREADY_LINK LINK_FAILED, LINK_FAILED",
    })
    void linking_sums_up(String entries, String overall) {
        LinkResult result = LinkResult.ofLink(outcomes(entries));
        assertThat(result.status()).isEqualTo(status(overall));
        assertThat(result.statuses())
                .isEqualTo(Arrays.stream(entries.split(" ")).map(LinkResultTest::status).toList());
    }

    @ParameterizedTest
    @CsvSource({
        "SUCCESS, SUCCESS",
        "NOT_YET_LINK, SUCCESS",
        "SUCCESS NOT_YET_LINK, SUCCESS",
        "NOTIFY_PROMPT_UNLINK_FAILED, UNLINK_FAILED",
        "SUCCESS LINK_BUSY, UNLINK_FAILED",
        "NOT_YET_LINK PARAM_INVALID, UNLINK_FAILED",
    })
    void unlinking_sums_up(String entries, String overall) {
        assertThat(LinkResult.ofUnlink(outcomes(entries)).status()).isEqualTo(status(overall));
    }

    private static List<Outcome<Done>> outcomes(String entries) {
        return Arrays.stream(entries.split(" "))
                .map(LinkResultTest::status)
                .map(
                        code ->
                                code.isOk()
                                        ? Outcome.done()
                                        : Outcome.<Done>failed(code, "cluster " + code))
                .toList();
    }

    private static LlmStatus status(String name) {
        return LlmStatus.valueOf("LLM_" + name.toUpperCase(Locale.ROOT));
    }
}
