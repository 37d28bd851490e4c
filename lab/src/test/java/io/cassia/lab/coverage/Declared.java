package io.cassia.lab.coverage;

import io.cassia.status.Code;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a test method declares with {@link Covers}. Immutable.
 *
 * @param scenarios by code, in the order of the declaration
 */
record Declared(Map<Code, String> scenarios) {
    /**
     * A declaration without a code or a scenario, or with a code twice, is a defect of the test.
     */
    static Declared by(Method method) {
        Map<Code, String> scenarios = new LinkedHashMap<>();
        for (Covers covers : method.getAnnotationsByType(Covers.class)) {
            List<Code> codes = new ArrayList<>();
            codes.addAll(List.of(covers.transfer()));
            codes.addAll(List.of(covers.store()));
            codes.addAll(List.of(covers.llm()));
            String scenario = covers.scenario().strip();
            if (codes.isEmpty() || !isSentence(scenario)) {
                throw new IllegalStateException(
                        method + ": @Covers wants a code and a scenario of one line and a stop");
            }
            for (Code code : codes) {
                if (scenarios.put(code, scenario) != null) {
                    throw new IllegalStateException(method + " declares " + code + " twice");
                }
            }
        }
        return new Declared(scenarios);
    }

    private static boolean isSentence(String scenario) {
        return scenario.endsWith(".")
                && scenario.length() > 1
                && !scenario.matches("(?s).*[\t\n].*");
    }

    boolean isEmpty() {
        return scenarios.isEmpty();
    }
}
