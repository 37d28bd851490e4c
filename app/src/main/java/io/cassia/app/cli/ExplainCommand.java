package io.cassia.app.cli;

import io.cassia.status.Answer;
import io.cassia.status.Code;
import io.cassia.status.CodeInfo;
import io.cassia.status.CodeMatch;
import io.cassia.status.Codes;
import io.cassia.status.ExplainText;
import io.cassia.status.Family;
import io.cassia.status.Language;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code cassia explain}. Confined to its thread. */
@Command(
        name = "explain",
        description = {
            "Tell what a result code means, why it happens and what to do.",
            "Takes a number in any notation or a name; alone it lists all codes. A number that"
                    + " several families share shows each of them."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia explain -707",
            "  cassia explain lease_expired --lang zh",
            "  cassia explain 0x5010B001",
            "  cassia explain --json > codes.json"
        })
final class ExplainCommand implements Callable<Integer> {
    @Mixin private final Output output;

    @Parameters(
            arity = "0..1",
            paramLabel = "CODE",
            description = "Number or name, for example -707, 0x5010B001, LEASE_EXPIRED.")
    private @Nullable String query;

    @Option(
            names = {"--lang", "--language"},
            paramLabel = "en|zh",
            converter = LanguageTag.class,
            description = "Language of the texts. Default: that of the locale, else English.")
    private Language language = Language.of(Locale.getDefault());

    ExplainCommand(Console console) {
        this.output = new Output(console);
    }

    @Override
    public Integer call() {
        String asked = query;
        ExplainText texts = new ExplainText(language, ExplainText.COLUMNS);
        if (asked == null) {
            return output.ok(
                    () -> Json.object("codes", documents(Codes.all())),
                    () -> texts.list(List.of(Family.values())).stripTrailing());
        }
        CodeMatch match = Codes.find(asked);
        String text = texts.explain(asked, match).stripTrailing();
        if (match.isEmpty()) {
            output.console().note(text);
        }
        int printed =
                output.ok(
                        () ->
                                Json.object(
                                        "query", asked,
                                        "codes", documents(match.codes()),
                                        "suggestions",
                                                match.suggestions().stream()
                                                        .map(Code::name)
                                                        .toList()),
                        () -> match.isEmpty() ? "" : text);
        return match.isEmpty() ? ExitCodes.NOT_FOUND : printed;
    }

    private List<Map<String, Object>> documents(List<Code> codes) {
        return codes.stream().map(code -> document(CodeInfo.of(code, language))).toList();
    }

    private static Map<String, Object> document(CodeInfo info) {
        Code code = info.code();
        return Json.object(
                "name", code.name(),
                "number", code.number(),
                "text", code.family().format(code.number()),
                "family", code.family().label(),
                "category", info.category().label(Language.EN),
                "language", info.language().tag(),
                "summary", info.summary(),
                "meaning", info.meaning(),
                "causes", info.causes(),
                "remedy", info.remedy(),
                "recoverable", document(info.recoverable()),
                "retrySafe", document(info.retrySafe()),
                "effectPossible", document(info.effectPossible()),
                "upstream", orNull(info.upstream()),
                "scenarios", info.scenarios());
    }

    private static Map<String, Object> document(Answer answer) {
        return Json.object(
                "verdict", answer.verdict().label(Language.EN), "reason", answer.reason());
    }

    private static Object orNull(Optional<String> text) {
        return text.isPresent() ? text.get() : Json.Null.NULL;
    }

    /** {@code en} or {@code zh}. */
    static final class LanguageTag implements ITypeConverter<Language> {
        @Override
        public Language convert(String tag) {
            for (Language language : Language.values()) {
                if (language.tag().equals(tag)) {
                    return language;
                }
            }
            throw new TypeConversionException("'" + tag + "' is not a language: en or zh");
        }
    }
}
