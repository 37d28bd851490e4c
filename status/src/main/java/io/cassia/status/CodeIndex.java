package io.cassia.status;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Immutable. Finds codes by family and number. */
final class CodeIndex {
    private static final List<Code> ALL = all();
    private static final Map<Family, Map<Integer, Code>> BY_NUMBER = index(ALL);

    private CodeIndex() {}

    static Code find(Family family, int number) {
        Code code = BY_NUMBER.getOrDefault(family, Map.of()).get(number);
        return code != null ? code : new UnknownCode(family, number);
    }

    /** Every defined code, family by family, in the order of the contract. */
    static List<Code> codes() {
        return ALL;
    }

    private static List<Code> all() {
        List<Code> codes = new ArrayList<>();
        Collections.addAll(codes, TransferCode.values());
        Collections.addAll(codes, StoreCode.values());
        Collections.addAll(codes, LlmStatus.values());
        return List.copyOf(codes);
    }

    private static Map<Family, Map<Integer, Code>> index(List<Code> codes) {
        Map<Family, Map<Integer, Code>> byFamily = new EnumMap<>(Family.class);
        for (Family family : Family.values()) {
            Map<Integer, Code> byNumber = new HashMap<>();
            for (Code code : codes) {
                if (code.family() == family && byNumber.put(code.number(), code) != null) {
                    throw new IllegalStateException(code + " shares its number");
                }
            }
            byFamily.put(family, byNumber);
        }
        return byFamily;
    }
}
