package io.cassia.lab.coverage;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Code;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Immutable. Holds a test to its {@link Covers} and writes down what it has proved. */
final class CoversCheck implements ParameterResolver, AfterTestExecutionCallback {
    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(CoversCheck.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Coverage.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return coverage(context);
    }

    @Override
    public void afterTestExecution(ExtensionContext context) {
        if (context.getExecutionException().isPresent()) {
            return;
        }
        Declared declared = Declared.by(context.getRequiredTestMethod());
        Set<Code> shown = coverage(context).shown();
        assertThat(declared.scenarios().keySet())
                .as("codes that @Covers declares must include those that were shown")
                .containsAll(shown);
        if (isOneOfSeveral(context)) {
            together(context, declared).shown.addAll(shown);
        } else {
            assertAll(declared, shown);
        }
        CoveredCodes.append(directory(context), name(context), declared, shown);
    }

    private static void assertAll(Declared declared, Set<Code> shown) {
        assertThat(shown)
                .as("codes that were shown must include all that @Covers declares")
                .containsAll(declared.scenarios().keySet());
    }

    /** What the invocations of one method have shown; checked when the last one has ended. */
    private record Together(Declared declared, Set<Code> shown) implements AutoCloseable {
        @Override
        public void close() {
            assertAll(declared, shown);
        }
    }

    private static boolean isOneOfSeveral(ExtensionContext context) {
        return context.getParent().flatMap(ExtensionContext::getTestMethod).isPresent();
    }

    private static Together together(ExtensionContext context, Declared declared) {
        return context.getParent()
                .orElseThrow()
                .getStore(NAMESPACE)
                .computeIfAbsent(
                        Together.class,
                        key -> new Together(declared, ConcurrentHashMap.newKeySet()),
                        Together.class);
    }

    private static Coverage coverage(ExtensionContext context) {
        return context.getStore(NAMESPACE)
                .computeIfAbsent(Coverage.class, key -> new Coverage(), Coverage.class);
    }

    private static Path directory(ExtensionContext context) {
        return CoveredCodes.directory(context.getConfigurationParameter(CoveredCodes.DIRECTORY));
    }

    private static String name(ExtensionContext context) {
        return context.getRequiredTestClass().getSimpleName()
                + "."
                + context.getRequiredTestMethod().getName();
    }
}
