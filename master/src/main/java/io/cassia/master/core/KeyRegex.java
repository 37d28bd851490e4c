package io.cassia.master.core;

import io.cassia.base.ByteString;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Confined to the caller. An ECMAScript regular expression over keys, searched as upstream does: a
 * byte is a character. A search that takes too many steps fails, so that no expression can stop the
 * master.
 */
final class KeyRegex {
    private static final int LONGEST = 4096;
    private static final int MOST_STEPS = 200_000;

    private final Pattern pattern;
    private final KeyView view = new KeyView();
    private long steps;

    /** The expression is malformed or needs too many steps. */
    static final class RegexFault extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final String fault;

        RegexFault(String fault) {
            super(fault, null, false, false);
            this.fault = fault;
        }

        String fault() {
            return fault;
        }
    }

    KeyRegex(ByteString expression) {
        if (expression.length() > LONGEST) {
            throw new RegexFault("the expression has more than " + LONGEST + " bytes");
        }
        String text = new String(expression.array(), StandardCharsets.ISO_8859_1);
        try {
            pattern = Pattern.compile(toJava(text), Pattern.UNIX_LINES);
        } catch (PatternSyntaxException e) {
            throw new RegexFault("bad expression '" + text + "': " + e.getDescription());
        } catch (StackOverflowError e) {
            throw new RegexFault("the expression is nested too deeply");
        }
    }

    boolean isFoundIn(byte[] key) {
        view.reset(key);
        try {
            boolean found = pattern.matcher(view).find();
            steps += view.steps + 1;
            return found;
        } catch (StackOverflowError e) {
            throw new RegexFault("the expression needs too deep a search");
        }
    }

    /** Steps of all searches so far. */
    long steps() {
        return steps;
    }

    /**
     * Java reads some things in a character class differently ({@code [} opens a nested class,
     * {@code &&} intersects) and lets {@code $} match before a final newline.
     */
    private static String toJava(String text) {
        StringBuilder java = new StringBuilder(text.length() + 16);
        boolean inClass = false;
        for (int i = 0; i < text.length(); i++) {
            char symbol = text.charAt(i);
            if (symbol == '\\' && i + 1 < text.length()) {
                java.append(symbol).append(text.charAt(++i));
            } else if (inClass && symbol == '[' && text.startsWith("[:", i)) {
                int end = text.indexOf(":]", i);
                if (end < 0) {
                    throw new RegexFault("unclosed character class name in '" + text + "'");
                }
                java.append(posixClass(text.substring(i + 2, end)));
                i = end + 1;
            } else if (inClass && (symbol == '[' || symbol == '&')) {
                java.append('\\').append(symbol);
            } else if (!inClass && symbol == '$') {
                java.append("\\z");
            } else {
                if (symbol == '[') {
                    inClass = true;
                } else if (symbol == ']') {
                    inClass = false;
                }
                java.append(symbol);
            }
        }
        return java.toString();
    }

    private static String posixClass(String name) {
        return switch (name) {
            case "alnum" -> "\\p{Alnum}";
            case "alpha" -> "\\p{Alpha}";
            case "blank" -> "\\p{Blank}";
            case "cntrl" -> "\\p{Cntrl}";
            case "digit", "d" -> "\\p{Digit}";
            case "graph" -> "\\p{Graph}";
            case "lower" -> "\\p{Lower}";
            case "print" -> "\\p{Print}";
            case "punct" -> "\\p{Punct}";
            case "space", "s" -> "\\p{Space}";
            case "upper" -> "\\p{Upper}";
            case "xdigit" -> "\\p{XDigit}";
            case "w" -> "\\w";
            default -> throw new RegexFault("unknown character class " + name);
        };
    }

    /** A key as characters; counts how often it is looked at. */
    private static final class KeyView implements CharSequence {
        private byte[] key = new byte[0];
        private int steps;

        void reset(byte[] key) {
            this.key = key;
            steps = 0;
        }

        @Override
        public char charAt(int index) {
            if (++steps > MOST_STEPS) {
                throw new RegexFault("the expression needs more than " + MOST_STEPS + " steps");
            }
            return (char) (key[index] & 0xFF);
        }

        @Override
        public int length() {
            return key.length;
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return toString().substring(start, end);
        }

        @Override
        public String toString() {
            return new String(key, StandardCharsets.ISO_8859_1);
        }
    }
}
