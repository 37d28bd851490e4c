package io.cassia.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.master.core.Command;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.testkit.simulation.VirtualClock;
import io.cassia.testkit.simulation.VirtualTime;
import java.util.concurrent.TimeUnit;

/** Nothing expires early or becomes immortal when somebody sets the machine's clock. */
class WallClockTest {
    private static final long HOUR_MILLIS = 3_600_000;
    private static final Uuid NODE = new Uuid(1, 1);
    private static final ByteString TENANT = ByteString.of("default");
    private static final ByteString KEY = ByteString.of("k");

    /** A master with its clock, whose timer the test is. */
    private static final class Machine implements AutoCloseable {
        final VirtualTime time = new VirtualTime();
        final VirtualClock clock = new VirtualClock(time, -7_000_000_000L, 0);
        final MasterLoop loop = new MasterLoop(MasterParts.coreConfig(MasterConfig.DEFAULT), clock);

        /** Ticks for a while; the node pings as long as it lives. */
        void run(long seconds, boolean pings) {
            for (long i = 0; i < seconds * 10; i++) {
                time.after(TimeUnit.MILLISECONDS.toNanos(100), () -> {});
                assertThat(time.step()).isTrue();
                if (pings) {
                    loop.apply(new Command.Ping(NODE)).orThrow();
                }
                while (loop.apply(new Command.Tick())) {
                    // Until nothing is due.
                }
            }
        }

        @Override
        public void close() {
            loop.close();
        }
    }
}
