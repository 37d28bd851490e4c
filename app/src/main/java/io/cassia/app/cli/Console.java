package io.cassia.app.cli;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * The streams of a command. Immutable.
 *
 * @param in standard input
 * @param out results, nothing else; may be binary
 * @param err errors, hints and progress
 * @param terminal whether a person watches: only then progress is drawn
 * @param program how the program was called, for hints that can be pasted
 */
public record Console(
        InputStream in, PrintStream out, PrintStream err, boolean terminal, String program) {
    private static final int BUFFER = 1 << 16;

    /** The streams of the process, as UTF-8 whatever the locale says. */
    public static Console ofProcess() {
        return new Console(
                System.in,
                stream(FileDescriptor.out),
                stream(FileDescriptor.err),
                isTerminal(),
                System.getProperty("cassia.program", "./cassia"));
    }

    @SuppressWarnings("SystemConsoleNull") // NullAway does not know that it is never null now.
    private static boolean isTerminal() {
        java.io.Console console = System.console();
        return console != null && console.isTerminal();
    }

    private static PrintStream stream(FileDescriptor descriptor) {
        return new PrintStream(
                new java.io.BufferedOutputStream(new FileOutputStream(descriptor), BUFFER),
                false,
                StandardCharsets.UTF_8);
    }

    /** Prints a line of the result; {@link #flush} or the end of the command shows it. */
    void line(String text) {
        out.print(text);
        out.print('\n');
    }

    /** Shows everything now; false when the reader of the output has gone. */
    @CanIgnoreReturnValue
    boolean flush() {
        err.flush();
        return !out.checkError();
    }

    /** Waits until standard input ends: that of a process which shall end with its parent. */
    void awaitEndOfInput() {
        try {
            while (in.read() >= 0) {
                // Nobody has anything to say here.
            }
        } catch (IOException e) {
            note("input: " + e);
        }
    }

    void note(String text) {
        err.print(text);
        err.print('\n');
        err.flush();
    }
}
