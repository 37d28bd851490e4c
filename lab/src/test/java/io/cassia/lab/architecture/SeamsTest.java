package io.cassia.lab.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/**
 * Time, sleep and chance reach the product through seams of {@code base}, so that whole clusters
 * can be simulated from a seed. Nothing else asks the JDK for them.
 */
class SeamsTest {
    /**
     * Owner, name and, for constructors, the number of arguments of what must not be called. A
     * generator with a seed is not chance; parking is waiting for another thread, not time.
     */
    private static final Set<String> FORBIDDEN =
            Set.of(
                    "java.lang.System.nanoTime",
                    "java.lang.System.currentTimeMillis",
                    "java.lang.Thread.sleep",
                    "java.lang.Math.random",
                    "java.time.Instant.now",
                    "java.time.LocalDateTime.now",
                    "java.time.LocalDate.now",
                    "java.time.OffsetDateTime.now",
                    "java.time.ZonedDateTime.now",
                    "java.time.Clock.systemUTC",
                    "java.time.Clock.systemDefaultZone",
                    "java.util.Random.<init>/0",
                    "java.util.SplittableRandom.<init>/0",
                    "java.util.UUID.randomUUID",
                    "java.util.concurrent.ThreadLocalRandom.current",
                    "java.util.concurrent.TimeUnit.sleep",
                    "java.util.concurrent.locks.LockSupport.parkUntil",
                    "java.security.SecureRandom.<init>/0",
                    "java.security.SecureRandom.<init>/1");

    /**
     * @param owner class of the product
     * @param calls what it may call
     * @param reason why it must
     */
    private record Permit(String owner, String calls, String reason) {}

    /** Short, and each with a reason. */
    private static final List<Permit> PERMITS =
            List.of(
                    new Permit(
                            "io.cassia.base.SystemClock",
                            "java.lang.System.nanoTime",
                            "it is the seam"),
                    new Permit(
                            "io.cassia.base.SystemClock",
                            "java.lang.System.currentTimeMillis",
                            "it is the seam"),
                    new Permit(
                            "io.cassia.base.Entropy",
                            "java.security.SecureRandom.<init>/0",
                            "it is the seam"),
                    new Permit(
                            "io.cassia.transfer.net.PortBinder",
                            "java.util.concurrent.ThreadLocalRandom.current",
                            "chooses a port of the real machine; no simulation binds one"),
                    new Permit(
                            "io.cassia.transfer.memory.SharedFiles",
                            "java.util.UUID.randomUUID",
                            "names files that processes of the real machine share"),
                    new Permit(
                            "io.cassia.app.cli.Serving",
                            "java.time.Instant.now",
                            "compares with the start of the process, which is wall clock"));

    @Test
    void product_asks_only_the_seams_for_time_sleep_and_chance() {
        assertThat(calls(productClasses()))
                .filteredOn(call -> !isPermitted(call))
                .as("take a Clock or a source of chance from the assembly instead")
                .isEmpty();
    }

    @Test
    void every_permit_is_still_needed_and_says_why() {
        Set<Call> calls = calls(productClasses());
        for (Permit permit : PERMITS) {
            assertThat(permit.reason).isNotBlank();
            assertThat(calls)
                    .as("%s no longer calls %s", permit.owner, permit.calls)
                    .anyMatch(call -> matches(permit, call));
        }
    }

    /** What the rule must find. */
    static final class Sleeper {
        void sleep() throws InterruptedException {
            Thread.sleep(1);
        }

        LongSupplier reference() {
            return System::nanoTime;
        }

        Random chance() {
            return new Random();
        }

        Random seeded() {
            return new Random(42);
        }
    }

    @Test
    void rule_finds_calls_and_method_references() {
        JavaClass sleeper = new ClassFileImporter().importClass(Sleeper.class);
        assertThat(calls(List.of(sleeper)))
                .extracting(Call::target)
                .containsExactlyInAnyOrder(
                        "java.lang.Thread.sleep",
                        "java.lang.System.nanoTime",
                        "java.util.Random.<init>/0");
    }

    private record Call(String owner, String target, String where) {}

    private static List<JavaClass> productClasses() {
        List<JavaClass> classes = new ArrayList<>();
        for (JavaClass javaClass : ProductClasses.ALL) {
            for (ModuleMap module : ModuleMap.values()) {
                String root = module.packages().replace("..", "");
                String name = javaClass.getPackageName();
                if (module.isProduct() && (name.equals(root) || name.startsWith(root + "."))) {
                    classes.add(javaClass);
                }
            }
        }
        assertThat(classes).hasSizeGreaterThan(50);
        return classes;
    }

    private static Set<Call> calls(List<JavaClass> classes) {
        Set<Call> calls = new LinkedHashSet<>();
        for (JavaClass javaClass : classes) {
            for (JavaCodeUnitAccess<?> access : javaClass.getCodeUnitAccessesFromSelf()) {
                String target = target(access);
                if (FORBIDDEN.contains(target)) {
                    calls.add(
                            new Call(
                                    javaClass.getFullName(),
                                    target,
                                    access.getSourceCodeLocation().toString()));
                }
            }
        }
        return calls;
    }

    private static String target(JavaCodeUnitAccess<?> access) {
        String name = access.getTargetOwner().getFullName() + "." + access.getTarget().getName();
        int arguments = access.getTarget().getRawParameterTypes().size();
        return name.endsWith(".<init>") ? name + "/" + arguments : name;
    }

    private static boolean isPermitted(Call call) {
        return PERMITS.stream().anyMatch(permit -> matches(permit, call));
    }

    private static boolean matches(Permit permit, Call call) {
        return permit.owner.equals(call.owner) && permit.calls.equals(call.target);
    }
}
