package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.PeerStandIn.Connection;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process that stands still between finding that there is time and writing. */
class LateWriteTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private final AtomicLong nanos = new AtomicLong();
    private volatile boolean stops;

    /** When it is to stop, the time is over as soon as the lane has looked at it. */
    private final class StoppingClock implements Clock {
        @Override
        public long nanos() {
            long now = nanos.get();
            if (stops && isAskedByLane()) {
                stops = false;
                nanos.addAndGet(DEADLINE.toNanos());
            }
            return now;
        }

        @Override
        public long epochMillis() {
            return 1_800_000_000_000L + nanos.get() / 1_000_000;
        }

        private static boolean isAskedByLane() {
            return StackWalker.getInstance()
                    .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("arm")));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void nothing_is_written_when_the_deadline_is_over(int version) throws IOException {
        try (PeerStandIn peer = new PeerStandIn(version, Connection::answerAll);
                TransferEngine engine =
                        TransferEngine.start(
                                        Peers.overTcp(),
                                        new StoppingClock(),
                                        new SimpleMeterRegistry())
                                .orThrow();
                Arena arena = Arena.ofShared()) {
            SegmentHandle target = engine.openSegment(peer.name()).orThrow();
            TransferRequest write =
                    new TransferRequest(
                            Opcode.WRITE, arena.allocate(100_000), target, PeerStandIn.BASE);
            stops = true;
            Outcome<Done> late = engine.transfer(List.of(write), DEADLINE).getFirst();
            assertThat(late)
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> {
                                assertThat(failed.code()).isEqualTo(TransferCode.ERR_SOCKET);
                                assertThat(failed.detail()).contains("not all was written");
                            });
            assertThat(peer.headers()).isEmpty();
            assertThat(engine.transfer(List.of(write), DEADLINE).getFirst())
                    .isEqualTo(Outcome.done());
        }
    }
}
