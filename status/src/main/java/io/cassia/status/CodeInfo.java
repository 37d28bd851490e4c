package io.cassia.status;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a person must know about a code, in one language. Immutable. The texts come from resources
 * of this module that are read on first use; every code of the contract has all of them in every
 * language.
 *
 * @param code may be an {@link UnknownCode}: the texts then say what can be said without knowing it
 * @param category the area that the number belongs to
 * @param language of all texts below
 * @param summary one line
 * @param meaning what happened and whether something may be lost
 * @param causes likely causes, the likeliest first
 * @param remedy what the operator does next
 * @param recoverable can normal work be reached again without giving up the process or its data?
 * @param retrySafe may the identical call be repeated: does it do no harm, and can it succeed?
 * @param effectPossible may the failed call have changed something nevertheless?
 * @param upstream where Cassia and the upstream project differ
 * @param scenarios what the tests do to make the real system return it; empty for an unknown code
 */
public record CodeInfo(
        Code code,
        Category category,
        Language language,
        String summary,
        String meaning,
        List<String> causes,
        String remedy,
        Answer recoverable,
        Answer retrySafe,
        Answer effectPossible,
        Optional<String> upstream,
        List<String> scenarios) {
    public CodeInfo {
        causes = List.copyOf(causes);
        scenarios = List.copyOf(scenarios);
    }

    /** The texts of a code. */
    public static CodeInfo of(Code code, Language language) {
        String block = code instanceof UnknownCode ? CodeTexts.UNKNOWN : code.name();
        return CodeTexts.load(code.family(), language).info(block, code, Scenarios.load().of(code));
    }

    /** All codes of the contract in its order. */
    public static List<CodeInfo> all(Language language) {
        List<CodeInfo> infos = new ArrayList<>();
        for (Code code : Codes.all()) {
            infos.add(of(code, language));
        }
        return List.copyOf(infos);
    }
}
