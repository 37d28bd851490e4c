package io.cassia.app.cli;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.HumanDuration;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** How a server learns that it shall end; a seam for tests. */
@FunctionalInterface
interface StopSignal {
    /** What closing takes at most when nothing has to be brought to safety. */
    Duration SHORT = Duration.ofSeconds(20);

    /**
     * Tells that the server is ready, waits until the process shall end, then runs {@code close};
     * all on the calling thread. Whoever has seen the announcement may ask for the end.
     *
     * @param longest closing may take; the process then ends all the same
     */
    void serve(Runnable announce, Runnable close, Duration longest);

    /**
     * SIGINT and SIGTERM. The process then ends with 0: whoever asked a server to stop and sees it
     * stop in order has no error to handle.
     */
    static StopSignal ofProcess() {
        return (announce, close, longest) -> {
            CountDownLatch asked = new CountDownLatch(1);
            CountDownLatch closed = new CountDownLatch(1);
            AtomicInteger exit = new AtomicInteger(ExitCodes.INTERNAL);
            Thread hook =
                    new Thread(
                            () -> {
                                asked.countDown();
                                boolean inTime = await(closed, longest.toSeconds());
                                if (!inTime) {
                                    System.err.println(
                                            "error: not closed within "
                                                    + HumanDuration.format(longest)
                                                    + "; ended all the same");
                                }
                                Runtime.getRuntime().halt(inTime ? exit.get() : ExitCodes.INTERNAL);
                            },
                            "stop");
            Runtime.getRuntime().addShutdownHook(hook);
            try {
                announce.run();
                await(asked, Long.MAX_VALUE);
                close.run();
                exit.set(ExitCodes.OK);
            } finally {
                // What went wrong ends the process as well, and at once.
                closed.countDown();
            }
        };
    }

    /** Whether it came in time; only the signal ends a server, so interrupts are ignored. */
    @CanIgnoreReturnValue
    private static boolean await(CountDownLatch latch, long seconds) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return latch.await(seconds, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
