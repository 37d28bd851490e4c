package io.cassia.lab.coverage;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.CassiaException;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * The results that one test has shown. Thread-safe: a scenario may show them from several threads.
 * Injected into tests that {@link Covers} codes; what was shown counts when the test passes.
 */
public final class Coverage {
    private final Set<Code> shown =
            new ConcurrentSkipListSet<>(
                    Comparator.comparing(Code::family).thenComparing(Code::name));

    /**
     * Asserts that the result carries the code. A failure must also say what was attempted and why:
     * a code with an empty detail is not what was promised. A success counts for the success code.
     */
    public void expect(Outcome<?> outcome, Code code) {
        switch (outcome) {
            case Outcome.Ok<?>(Object value) -> {
                assertThat(code.isOk())
                        .as("expected %s, got success with %s", code.label(), value)
                        .isTrue();
                shown.add(code);
            }
            case Outcome.Failed<?>(Code actual, String detail) -> expect(actual, detail, code);
        }
    }

    /** The same for a thrown failure. */
    public void expect(CassiaException failure, Code code) {
        expect(failure.code(), failure.detail(), code);
    }

    /** The same for a failure that came another way: an HTTP body, a result vector, an exit. */
    public void expect(Code actual, String detail, Code code) {
        assertThat(actual.label()).as("detail: %s", detail).isEqualTo(code.label());
        assertThat(actual).isEqualTo(code);
        if (!code.isOk()) {
            assertThat(detail).as("the detail of %s", code.label()).isNotBlank();
        }
        shown.add(code);
    }

    Set<Code> shown() {
        return shown;
    }
}
