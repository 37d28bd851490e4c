package io.cassia.status;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * The Markdown page of all codes, {@code docs/errors.md}. Immutable. Further paragraphs per code,
 * such as what a foreign client sees, are added with {@link #with}.
 *
 * @param scenarios what the tests do, so that a page can be written together with them
 * @param extras paragraphs behind the built-in ones, in this order
 */
public record ErrorsPage(Scenarios scenarios, List<Extra> extras) {
    /**
     * A paragraph of each code for which it has texts.
     *
     * @param heading set in bold in front of the texts
     * @param texts Markdown; empty leaves the paragraph out
     */
    public record Extra(String heading, Function<Code, List<String>> texts) {}

    private static final String HEAD =
            """
            # Error codes

            This page is generated from the texts in the `status` module, which `cassia explain CODE` shows on the
            terminal, in English and in Chinese. It lists every code of the three families. Numbers are never reused
            or renumbered.

            For every code three questions are answered:

            * **Recoverable**: can normal work be reached again without giving up the process or its data?
            * **Safe to retry**: may the identical call be repeated: does it do no harm, and can it succeed?
            * **Effect possible**: may the failed call have changed something nevertheless?

            A number that this release does not know is kept as received; its range still tells the area.
            """;

    public ErrorsPage {
        extras = List.copyOf(extras);
    }

    /** The page of this release. */
    public static ErrorsPage of(Scenarios scenarios) {
        return new ErrorsPage(scenarios, List.of());
    }

    /** The same page with one more paragraph per code. */
    public ErrorsPage with(Extra extra) {
        List<Extra> more = new ArrayList<>(extras);
        more.add(extra);
        return new ErrorsPage(scenarios, more);
    }

    /** The contents of the file. */
    public String markdown() {
        StringBuilder out = new StringBuilder(HEAD);
        for (Family family : Family.values()) {
            out.append("\n## ").append(title(family)).append("\n\n");
            out.append(introduction(family)).append('\n');
            table(out, family);
            for (Code code : Codes.of(family)) {
                entry(out, code);
            }
        }
        return out.toString();
    }

    private static String title(Family family) {
        return switch (family) {
            case TRANSFER_ENGINE -> "Transfer Engine";
            case STORE -> "Store";
            case LLM_DATADIST -> "LLM-DataDist";
        };
    }

    private static String introduction(Family family) {
        return switch (family) {
            case TRANSFER_ENGINE ->
                    "Numbers are those of Mooncake's Transfer Engine: 0 or negative.\n";
            case STORE ->
                    "Numbers are those of Mooncake Store: 0 or negative, `i32` on the wire.\n";
            case LLM_DATADIST ->
                    "Numbers are unsigned 32-bit, written in hexadecimal. Decimal, they are"
                            + " 1343270912 plus the last\nthree hexadecimal digits.\n";
        };
    }

    private static void table(StringBuilder out, Family family) {
        out.append("| Number | Name | Category | Meaning | 含义 | Retry |\n");
        out.append("| ---: | --- | --- | --- | --- | --- |\n");
        for (Code code : Codes.of(family)) {
            CodeInfo en = CodeInfo.of(code, Language.EN);
            CodeInfo zh = CodeInfo.of(code, Language.ZH);
            row(
                    out,
                    "`" + family.format(code.number()) + "`",
                    "[" + code.name() + "](#" + anchor(code) + ")",
                    en.category().label(Language.EN),
                    en.summary(),
                    zh.summary(),
                    en.retrySafe().verdict().label(Language.EN));
        }
    }

    private static void row(StringBuilder out, String... cells) {
        for (String cell : cells) {
            out.append("| ").append(cell.replace("|", "\\|")).append(' ');
        }
        out.append("|\n");
    }

    private static String anchor(Code code) {
        String name = code.name().toLowerCase(Locale.ROOT).replace('_', '-');
        return code.family().label() + "-" + name;
    }

    private void entry(StringBuilder out, Code code) {
        CodeInfo en = CodeInfo.of(code, Language.EN);
        CodeInfo zh = CodeInfo.of(code, Language.ZH);
        out.append("\n<a id=\"").append(anchor(code)).append("\"></a>\n");
        out.append("### ").append(code.name()).append(" (");
        out.append(code.family().format(code.number())).append(")\n");
        paragraph(out, "", en.meaning());
        chinese(out, zh.meaning());
        if (!code.isOk()) {
            bullets(out, "Likely causes", en.causes());
        }
        paragraph(out, "**What to do:** ", en.remedy());
        chinese(out, "**怎么办**：" + zh.remedy());
        out.append('\n');
        answer(out, "Recoverable", en.recoverable());
        answer(out, "Safe to retry", en.retrySafe());
        answer(out, "Effect possible", en.effectPossible());
        en.upstream().ifPresent(text -> paragraph(out, "**Compared with upstream:** ", text));
        bullets(out, "How a test gets it", scenarios.of(code));
        extras.forEach(extra -> bullets(out, extra.heading, extra.texts.apply(code)));
    }

    /** Every paragraph has its blank line in front. */
    private static void paragraph(StringBuilder out, String first, String text) {
        out.append('\n');
        lines(out, first, "", text);
    }

    /** Not wrapped: Markdown turns a line break into a blank, which does not belong there. */
    private static void chinese(StringBuilder out, String text) {
        out.append('\n').append(text).append('\n');
    }

    private static void bullets(StringBuilder out, String heading, List<String> texts) {
        if (!texts.isEmpty()) {
            out.append("\n**").append(heading).append(":**\n\n");
            texts.forEach(text -> lines(out, "* ", "  ", text));
        }
    }

    private static void answer(StringBuilder out, String question, Answer answer) {
        String verdict = answer.verdict().label(Language.EN);
        lines(out, "* **" + question + ":** " + verdict + " - ", "  ", answer.reason());
    }

    private static void lines(StringBuilder out, String first, String rest, String text) {
        for (String line : Columns.wrap(text, 120, first, rest)) {
            out.append(line).append('\n');
        }
    }
}
