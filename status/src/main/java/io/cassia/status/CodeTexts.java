package io.cassia.status;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The texts of one family in one language. Immutable. The file is split into blocks once; a block
 * is read only when its code is asked for, so that explaining one code stays cheap at start-up.
 *
 * <pre>
 *   # comment
 *   = LEASE_EXPIRED
 *   summary: The read took longer than its lease
 *   meaning: The bytes arrived, but only after
 *     the time for which ...
 *   cause: ...
 *   cause: ...
 *   remedy: ...
 *   recoverable: yes | a new read takes a new lease
 *   retry: yes | reading changes nothing
 *   effect: no | ...
 *   upstream: ...
 * </pre>
 *
 * The fields stand in this order; only {@code cause} repeats and only {@code upstream} may be
 * missing. Anything else is a defect of the resource and an {@link IllegalStateException} that
 * names file and block.
 */
final class CodeTexts {
    /** The block for numbers that this release does not define. */
    static final String UNKNOWN = "UNKNOWN";

    private static final String BLOCK = "\n= ";

    /** One entry per family and language at most. */
    private static final Map<String, CodeTexts> LOADED = new ConcurrentHashMap<>();

    private enum Field {
        SUMMARY,
        MEANING,
        CAUSE,
        REMEDY,
        RECOVERABLE,
        RETRY,
        EFFECT,
        UPSTREAM;

        final String key = name().toLowerCase(Locale.ROOT);
    }

    private final String file;
    private final Language language;
    private final Map<String, String> blocks;

    private CodeTexts(String file, Language language, Map<String, String> blocks) {
        this.file = file;
        this.language = language;
        this.blocks = blocks;
    }

    static CodeTexts load(Family family, Language language) {
        String file = "codes-" + family.label() + "." + language.tag() + ".txt";
        CodeTexts known = LOADED.get(file);
        if (known != null) {
            return known;
        }
        CodeTexts texts = parse(file, language, read(file));
        LOADED.put(file, texts);
        return texts;
    }

    /** The text of a resource of this package. */
    static String read(String file) {
        try (InputStream in = CodeTexts.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(file + " is missing from the status module");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(file, e);
        }
    }

    static CodeTexts parse(String file, Language language, String text) {
        Map<String, String> blocks = new LinkedHashMap<>();
        int at = text.indexOf(BLOCK);
        while (at >= 0) {
            int nameEnd = text.indexOf('\n', at + 1);
            int next = text.indexOf(BLOCK, at + 1);
            if (nameEnd < 0 || nameEnd == next) {
                throw new IllegalStateException(file + ": empty block");
            }
            String name = text.substring(at + BLOCK.length(), nameEnd).strip();
            String body = text.substring(nameEnd + 1, next < 0 ? text.length() : next);
            if (blocks.put(name, body) != null) {
                throw new IllegalStateException(file + ": " + name + " stands there twice");
            }
            at = next;
        }
        return new CodeTexts(file, language, blocks);
    }

    /** The names of all blocks, in the order of the file. */
    Set<String> names() {
        return blocks.keySet();
    }

    CodeInfo info(String block, Code code, List<String> scenarios) {
        Map<Field, List<String>> fields = fields(block);
        return new CodeInfo(
                code,
                Category.of(code),
                language,
                one(fields, Field.SUMMARY),
                one(fields, Field.MEANING),
                fields.getOrDefault(Field.CAUSE, List.of()),
                one(fields, Field.REMEDY),
                answer(block, fields, Field.RECOVERABLE),
                answer(block, fields, Field.RETRY),
                answer(block, fields, Field.EFFECT),
                fields.containsKey(Field.UPSTREAM)
                        ? Optional.of(one(fields, Field.UPSTREAM))
                        : Optional.empty(),
                scenarios);
    }

    private static String one(Map<Field, List<String>> fields, Field field) {
        return fields.getOrDefault(field, List.of()).getFirst();
    }

    private Map<Field, List<String>> fields(String block) {
        String body = blocks.get(block);
        if (body == null) {
            throw defect(block, "the block is missing");
        }
        Map<Field, List<String>> fields = new EnumMap<>(Field.class);
        Field field = null;
        for (String line : body.split("\n", -1)) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            if (line.charAt(0) == ' ') {
                if (field == null) {
                    throw defect(block, "a continuation without a field: " + line);
                }
                List<String> texts = fields.getOrDefault(field, List.of());
                texts.set(texts.size() - 1, Columns.join(texts.getLast(), line.strip()));
            } else {
                field = begin(block, fields, field, line);
            }
        }
        checkComplete(block, fields);
        return fields;
    }

    private Field begin(
            String block, Map<Field, List<String>> fields, @Nullable Field before, String line) {
        int colon = line.indexOf(": ");
        Field field = null;
        for (Field candidate : Field.values()) {
            if (colon > 0 && line.substring(0, colon).equals(candidate.key)) {
                field = candidate;
            }
        }
        if (field == null) {
            throw defect(block, "not a field: " + line);
        }
        boolean repeats = field == Field.CAUSE && before == Field.CAUSE;
        if (before != null && field.compareTo(before) <= 0 && !repeats) {
            throw defect(block, field.key + " does not stand in its place");
        }
        if (!repeats) {
            fields.put(field, new ArrayList<>());
        }
        fields.getOrDefault(field, List.of()).add(line.substring(colon + 2).strip());
        return field;
    }

    private void checkComplete(String block, Map<Field, List<String>> fields) {
        for (Field field : Field.values()) {
            List<String> texts = fields.getOrDefault(field, List.of());
            if (texts.isEmpty() && field != Field.UPSTREAM) {
                throw defect(block, field.key + " is missing");
            }
            for (String text : texts) {
                if (text.isEmpty()) {
                    throw defect(block, field.key + " is empty");
                }
            }
        }
    }

    private Answer answer(String block, Map<Field, List<String>> fields, Field field) {
        String text = one(fields, field);
        int bar = text.indexOf(" | ");
        for (Verdict verdict : Verdict.values()) {
            if (bar > 0 && text.substring(0, bar).equals(verdict.label(Language.EN))) {
                return new Answer(verdict, text.substring(bar + 3).strip());
            }
        }
        throw defect(block, field.key + " wants 'yes | reason', 'no | ...' or 'depends | ...'");
    }

    private IllegalStateException defect(String block, String what) {
        return new IllegalStateException(file + ", block " + block + ": " + what);
    }
}
