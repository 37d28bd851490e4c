package io.cassia.status;

import java.util.ArrayList;
import java.util.List;

/**
 * Text in columns of a terminal. Immutable. A wide character (Chinese) takes two columns, lines may
 * break between wide characters, and punctuation stays with what it belongs to.
 */
final class Columns {
    private static final String NOT_AT_START = "，。、；：？！）》」』】…";
    private static final String NOT_AT_END = "（《「『【";

    /** First and last of the blocks of wide characters. */
    private static final int[] WIDE = {
        0x1100, 0x115F, 0x2E80, 0xA4CF, 0xAC00, 0xD7A3, 0xF900, 0xFAFF, 0xFE30, 0xFE6F, 0xFF00,
        0xFF60, 0xFFE0, 0xFFE6, 0x1F300, 0x1FAFF, 0x20000, 0x3FFFD
    };

    private Columns() {}

    static boolean isWide(int codePoint) {
        if (codePoint < WIDE[0]) {
            return false;
        }
        for (int i = 0; i < WIDE.length; i += 2) {
            if (codePoint >= WIDE[i] && codePoint <= WIDE[i + 1]) {
                return true;
            }
        }
        return false;
    }

    static int width(String text) {
        int width = 0;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            width += isWide(c) ? 2 : 1;
            i += Character.charCount(c);
        }
        return width;
    }

    /** Joins two lines of one sentence: Chinese needs no blank where a line was broken. */
    static String join(String line, String next) {
        int end = line.codePointBefore(line.length());
        int start = next.codePointAt(0);
        boolean blank =
                !(isWide(end) && isWide(start)) && !isPunctuation(end) && !isPunctuation(start);
        return blank ? line + " " + next : line + next;
    }

    private static boolean isPunctuation(int codePoint) {
        return isWide(codePoint) && !Character.isLetterOrDigit(codePoint);
    }

    /** Fills the text up with blanks; a text that is wider stays as it is. */
    static String pad(String text, int columns) {
        return text + " ".repeat(Math.max(0, columns - width(text)));
    }

    /** Cuts the text so that it fits, with an ellipsis in its last column. */
    static String cut(String text, int columns) {
        if (width(text) <= columns) {
            return text;
        }
        StringBuilder out = new StringBuilder();
        int used = 0;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            used += isWide(c) ? 2 : 1;
            if (used > columns - 1) {
                break;
            }
            out.appendCodePoint(c);
            i += Character.charCount(c);
        }
        return out.append('…').toString();
    }

    /**
     * Lines of at most {@code columns}, the first after {@code first}, the others after {@code
     * rest}. A word that is wider than a line is not broken.
     */
    static List<String> wrap(String text, int columns, String first, String rest) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder(first);
        int used = width(first);
        boolean empty = true;
        for (Atom atom : atoms(text)) {
            int blank = atom.afterBlank && !empty ? 1 : 0;
            int wide = width(atom.text.toString());
            if (!empty && used + blank + wide > columns) {
                lines.add(line.toString());
                line = new StringBuilder(rest);
                used = width(rest);
                blank = 0;
            }
            line.append(" ".repeat(blank)).append(atom.text);
            used += blank + wide;
            empty = false;
        }
        lines.add(line.toString());
        return lines;
    }

    /** What a line break must not cut: a word, or a wide character with its punctuation. */
    private record Atom(StringBuilder text, boolean afterBlank) {
        int last() {
            return text.codePointBefore(text.length());
        }
    }

    private static List<Atom> atoms(String text) {
        List<Atom> atoms = new ArrayList<>();
        boolean blank = false;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            if (c == ' ') {
                blank = true;
                continue;
            }
            if (blank || atoms.isEmpty() || !staysWith(atoms.getLast().last(), c)) {
                atoms.add(new Atom(new StringBuilder(), blank));
            }
            atoms.getLast().text.appendCodePoint(c);
            blank = false;
        }
        return atoms;
    }

    private static boolean staysWith(int before, int c) {
        return NOT_AT_START.indexOf(c) >= 0
                || NOT_AT_END.indexOf(before) >= 0
                || (!isWide(before) && !isWide(c));
    }
}
