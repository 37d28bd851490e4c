package io.cassia.app.cli;

import io.cassia.app.replay.ReplayEngine;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Progress for a person at a terminal; nothing anywhere else. Thread-safe. */
sealed interface ProgressLine extends ReplayEngine.Progress, AutoCloseable {
    @Override
    void close();

    static ProgressLine of(Console console, String task, long total) {
        return console.terminal() ? Drawn.start(console, task, total) : Silent.SILENT;
    }

    /** Thread-safe. */
    enum Silent implements ProgressLine {
        SILENT;

        @Override
        public void requestDone() {}

        @Override
        public void close() {}
    }

    /** Thread-safe: the library counts atomically and draws on its own thread. */
    record Drawn(ProgressBar bar) implements ProgressLine {
        private static final int REDRAW_MILLIS = 200;

        static Drawn start(Console console, String task, long total) {
            return new Drawn(
                    new ProgressBarBuilder()
                            .setTaskName(task)
                            .setInitialMax(total)
                            .setUpdateIntervalMillis(REDRAW_MILLIS)
                            .setStyle(ProgressBarStyle.ASCII)
                            .setConsumer(new ConsoleProgressBarConsumer(console.err()))
                            .clearDisplayOnFinish()
                            .build());
        }

        @Override
        public void requestDone() {
            bar.step();
        }

        @Override
        public void close() {
            bar.close();
        }
    }
}
