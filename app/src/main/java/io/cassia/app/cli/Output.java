package io.cassia.app.cli;

import io.cassia.status.Code;
import io.cassia.status.Outcome;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** How a command answers: text for people or one JSON document. Confined to its command. */
final class Output {
    private final Console console;

    @Option(names = "--json", description = "Print one JSON document instead of text.")
    private boolean json;

    Output(Console console) {
        this.console = console;
    }

    Console console() {
        return console;
    }

    boolean json() {
        return json;
    }

    /** Prints the result in the wanted form; text may have several lines, or none. */
    int ok(Supplier<Map<String, Object>> document, Supplier<String> text) {
        String shown = json ? Json.text(document.get()) : text.get();
        if (!shown.isEmpty()) {
            console.line(shown);
        }
        return ExitCodes.OK;
    }

    /** Tells a failure: a line and a hint on the error stream, with --json also a document. */
    int failed(Outcome.Failed<?> failure) {
        return failed(failure.code(), failure.detail());
    }

    /** The same, with what was attempted in front unless the detail names the key itself. */
    int failed(Outcome.Failed<?> failure, String action, String key) {
        return failure.detail().contains(key)
                ? failed(failure)
                : failed(failure.code(), action + " " + key + ": " + failure.detail());
    }

    int failed(Code code, String detail) {
        int exit = ExitCodes.of(code);
        if (json) {
            document(console, code, detail, exit);
        }
        tell(console, code, detail);
        return exit;
    }

    /** The document of a failure. */
    static void document(Console console, Code code, String detail, int exit) {
        console.line(Json.text(Json.object("error", error(code, detail), "exitCode", exit)));
    }

    /** A failure as a member of a larger document. */
    static Map<String, Object> error(Code code, String detail) {
        return Json.object(
                "code", code.name(),
                "number", code.number(),
                "family", code.family().label(),
                "detail", detail);
    }

    /** The two lines that every failure ends with. */
    static void tell(Console console, Code code, String detail) {
        console.note("error: " + code.label() + ": " + detail.replace("\n", " "));
        console.note(
                "run '"
                        + console.program()
                        + " explain "
                        + code.family().format(code.number())
                        + "' for its cause and remedy");
    }
}
