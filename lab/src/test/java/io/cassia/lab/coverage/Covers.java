package io.cassia.lab.coverage;

import io.cassia.status.LlmStatus;
import io.cassia.status.StoreCode;
import io.cassia.status.TransferCode;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that makes the real system return these codes. It takes a {@link Coverage} and shows it
 * every result; it fails when one of the codes was not shown, or another one was. In a test with
 * several invocations all of them together must show all codes.
 *
 * <pre>{@code
 * @Test
 * @Covers(store = StoreCode.LEASE_EXPIRED, scenario = "A get is stalled until after its lease.")
 * void slow_read_is_discarded(Coverage coverage) {
 *     coverage.expect(client.get(key, into), StoreCode.LEASE_EXPIRED);
 * }
 * }</pre>
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@Repeatable(Covers.All.class)
@Tag(Covers.TAG)
@ExtendWith(CoversCheck.class)
public @interface Covers {
    /** The tag of all such tests: {@code -Dgroups=codes}. */
    String TAG = "codes";

    TransferCode[] transfer() default {};

    StoreCode[] store() default {};

    LlmStatus[] llm() default {};

    /** What the test does, in one sentence for users; shown where the code is explained. */
    String scenario();

    /** Several scenarios in one test. */
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.METHOD)
    @Tag(Covers.TAG)
    @ExtendWith(CoversCheck.class)
    @interface All {
        Covers[] value();
    }
}
