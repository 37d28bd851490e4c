package io.cassia.lab.coverage;

import static org.junit.platform.engine.discovery.ClassNameFilter.excludeClassNamePatterns;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClasspathRoots;
import static org.junit.platform.launcher.EngineFilter.includeEngines;
import static org.junit.platform.launcher.TagFilter.includeTags;

import io.cassia.status.Code;
import io.cassia.status.Scenarios;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Collects the scenarios that the coverage tests of this module declare. Immutable. */
final class DeclaredScenarios {
    private DeclaredScenarios() {}

    static Scenarios collect() {
        Map<Code, List<String>> byCode = new LinkedHashMap<>();
        for (Method method : methods()) {
            Declared.by(method)
                    .scenarios()
                    .forEach(
                            (code, scenario) ->
                                    byCode.computeIfAbsent(code, c -> new ArrayList<>())
                                            .add(scenario));
        }
        return new Scenarios(byCode);
    }

    /** The classes that surefire would run too: no nested ones, which are this package's props. */
    private static Set<Method> methods() {
        TestPlan plan =
                LauncherFactory.create(
                                LauncherConfig.builder()
                                        .enableTestExecutionListenerAutoRegistration(false)
                                        .build())
                        .discover(
                                LauncherDiscoveryRequestBuilder.request()
                                        .selectors(selectClasspathRoots(Set.of(testClasses())))
                                        .filters(
                                                excludeClassNamePatterns(".*\\$.*"),
                                                includeEngines("junit-jupiter"),
                                                includeTags(Covers.TAG))
                                        .build());
        Set<Method> methods = new LinkedHashSet<>();
        plan.getRoots().stream()
                .flatMap(root -> plan.getDescendants(root).stream())
                .forEach(
                        test -> {
                            if (test.getSource().orElse(null) instanceof MethodSource source) {
                                methods.add(source.getJavaMethod());
                            }
                        });
        return methods;
    }

    private static Path testClasses() {
        try {
            return Path.of(
                    DeclaredScenarios.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
