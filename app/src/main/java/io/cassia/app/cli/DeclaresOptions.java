package io.cassia.app.cli;

import picocli.CommandLine.Model.CommandSpec;

/** A command, or what several commands share, some of whose options come from a table. */
interface DeclaresOptions {
    /** Adds them; to be called once, before the command line is parsed. */
    void declare(CommandSpec spec);
}
