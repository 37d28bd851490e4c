package io.cassia.app.cli;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** How a server learns that it shall end; a seam for tests. */
@FunctionalInterface
interface StopSignal {
    /**
     * Tells that the server is ready, waits until the process shall end, then runs {@code close};
     * all on the calling thread. Whoever has seen the announcement may ask for the end.
     */
    void serve(Runnable announce, Runnable close);

    /**
     * SIGINT and SIGTERM. The process then ends with 0: whoever asked a server to stop and sees it
     * stop in order has no error to handle.
     */
    static StopSignal ofProcess() {
        return (announce, close) -> {
            CountDownLatch asked = new CountDownLatch(1);
            CountDownLatch closed = new CountDownLatch(1);
            AtomicInteger exit = new AtomicInteger(ExitCodes.INTERNAL);
            Thread hook =
                    new Thread(
                            () -> {
                                asked.countDown();
                                boolean inTime = await(closed, 20);
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
