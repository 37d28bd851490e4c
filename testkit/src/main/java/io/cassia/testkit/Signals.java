package io.cassia.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** Stops processes that a test has started, by their id, and lets them go on. Immutable. */
public final class Signals {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private Signals() {}

    /** SIGSTOP; on return every thread of the process stands. */
    public static void stop(Process process) {
        send("STOP", process);
        if (!ServiceProcess.pollUntil(() -> stands(process), LIMIT)) {
            throw new IllegalStateException(process.pid() + " does not stop");
        }
    }

    /** SIGCONT. */
    public static void resume(Process process) {
        send("CONT", process);
    }

    private static void send(String signal, Process process) {
        String pid = Long.toString(process.pid());
        try {
            Process kill = new ProcessBuilder("kill", "-" + signal, pid).inheritIO().start();
            if (kill.waitFor() != 0) {
                throw new IllegalStateException("kill -" + signal + " " + pid + " failed");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while stopping " + pid, e);
        }
    }

    /** The signal reaches the threads one by one, some time after it was sent. */
    private static boolean stands(Process process) {
        Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
        try (Stream<Path> threads = Files.list(tasks)) {
            for (Path thread : threads.toList()) {
                String stat = Files.readString(thread.resolve("stat"));
                if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            // A thread has ended while it was looked at: not all stood. Who asks has a limit.
            return false;
        }
    }
}
