package io.cassia.status;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Renders codes as plain text for a terminal. Immutable. Chinese characters count two columns.
 *
 * @param language of headings and texts
 * @param columns the width of the terminal; running text is not made wider than is good to read
 */
public record ExplainText(Language language, int columns) {
    /** A width that fits every terminal. */
    public static final int COLUMNS = 78;

    private static final int WIDEST_TEXT = 100;
    private static final String INDENT = "  ";

    public ExplainText {
        if (columns < 40) {
            throw new IllegalArgumentException("columns must be at least 40, not " + columns);
        }
    }

    /** Everything about one code. Lines end with a line feed. */
    public String explain(Code code) {
        CodeInfo info = CodeInfo.of(code, language);
        StringBuilder out = new StringBuilder();
        out.append(title(code)).append('\n').append(origin(info)).append("\n\n");
        paragraph(out, INDENT, info.summary());
        section(out, language.choose("What happened", "发生了什么"), info.meaning());
        if (!code.isOk()) {
            bullets(out, language.choose("Likely causes", "可能的原因"), info.causes());
        }
        section(out, language.choose("What to do", "怎么办"), info.remedy());
        out.append('\n');
        answer(out, language.choose("Recoverable", "可恢复"), info.recoverable());
        answer(out, language.choose("Safe to retry", "可安全重试"), info.retrySafe());
        answer(out, language.choose("Effect possible", "可能已生效"), info.effectPossible());
        if (info.upstream().isPresent()) {
            section(out, language.choose("Compared with upstream", "与上游对比"), info.upstream().get());
        }
        if (!info.scenarios().isEmpty()) {
            bullets(out, language.choose("How a test gets it", "测试如何触发"), info.scenarios());
        }
        return out.toString();
    }

    /** What a question found: each code, or the nearest ones when there is none. */
    public String explain(String query, CodeMatch match) {
        StringBuilder out = new StringBuilder();
        for (Code code : match.codes()) {
            if (!out.isEmpty()) {
                String rule = "-".repeat(Math.min(columns, WIDEST_TEXT));
                out.append('\n').append(rule).append("\n\n");
            }
            out.append(explain(code));
        }
        if (match.isEmpty()) {
            out.append(language.choose("No code has the name or number ", "没有此名称或编号的错误码："))
                    .append(query)
                    .append('\n');
        }
        if (!match.suggestions().isEmpty()) {
            out.append(language.choose("Did you mean:", "您要找的是不是：")).append('\n');
            lines(out, match.suggestions());
        }
        return out.toString();
    }

    /** One line per code, grouped by family and category. */
    public String list(List<Family> families) {
        StringBuilder out = new StringBuilder();
        for (Family family : families) {
            Map<Category, List<Code>> byCategory = new EnumMap<>(Category.class);
            for (Code code : Codes.of(family)) {
                Category category = Category.of(code);
                if (!byCategory.containsKey(category)) {
                    byCategory.put(category, new ArrayList<>());
                }
                byCategory.getOrDefault(category, List.of()).add(code);
            }
            for (Map.Entry<Category, List<Code>> group : byCategory.entrySet()) {
                out.append(out.isEmpty() ? "" : "\n");
                out.append(family.label()).append(": ").append(area(group.getKey())).append('\n');
                lines(out, group.getValue());
            }
        }
        return out.toString();
    }

    private void lines(StringBuilder out, List<Code> codes) {
        int numbers = 0;
        int names = 0;
        for (Code code : codes) {
            numbers = Math.max(numbers, code.family().format(code.number()).length());
            names = Math.max(names, code.name().length());
        }
        for (Code code : codes) {
            String line =
                    INDENT
                            + Columns.pad(code.family().format(code.number()), numbers)
                            + INDENT
                            + Columns.pad(code.name(), names)
                            + INDENT
                            + CodeInfo.of(code, language).summary();
            out.append(Columns.cut(line, columns)).append('\n');
        }
    }

    private String title(Code code) {
        String name =
                code instanceof UnknownCode
                        ? language.choose("not known to this release", "本版本不认识")
                        : code.name();
        return name + INDENT + code.family().format(code.number());
    }

    private String origin(CodeInfo info) {
        return info.code().family().label() + ", " + area(info.category());
    }

    private String area(Category category) {
        String label = category.label(language);
        return category.range().isEmpty() ? label : label + " (" + category.range() + ")";
    }

    private void answer(StringBuilder out, String question, Answer answer) {
        int head = 18;
        int verdict = 9;
        String first =
                Columns.pad(question, head)
                        + Columns.pad(answer.verdict().label(language), verdict);
        wrap(out, first, " ".repeat(head + verdict), answer.reason());
    }

    private void section(StringBuilder out, String heading, String text) {
        out.append('\n').append(heading).append('\n');
        paragraph(out, INDENT, text);
    }

    private void bullets(StringBuilder out, String heading, List<String> texts) {
        out.append('\n').append(heading).append('\n');
        for (String text : texts) {
            paragraph(out, INDENT + "* ", text);
        }
    }

    private void paragraph(StringBuilder out, String first, String text) {
        wrap(out, first, " ".repeat(first.length()), text);
    }

    private void wrap(StringBuilder out, String first, String rest, String text) {
        for (String line : Columns.wrap(text, Math.min(columns, WIDEST_TEXT), first, rest)) {
            out.append(line).append('\n');
        }
    }
}
