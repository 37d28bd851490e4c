package io.cassia.master.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.core.ObjectEvent;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

class KvEventPublisherTest {
    private static final List<ObjectEvent> LONG =
            List.of(
                    new ObjectEvent(
                            true,
                            ByteString.of("default"),
                            ByteString.of("x".repeat(100_000)),
                            ByteString.EMPTY));

    @Test
    void a_subscriber_that_does_not_read_misses_messages_alone_and_is_counted() {
        KvEventsConfig config = new KvEventsConfig("tcp://127.0.0.1:*", "b", false, true, 10);
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        AtomicBoolean enough = new AtomicBoolean();
        try (ZContext context = new ZContext();
                KvEventPublisher publisher =
                        KvEventPublisher.start(
                                        config,
                                        _ -> enough.get() ? List.of() : LONG,
                                        Clock.system(),
                                        meters)
                                .orThrow()) {
            ZMQ.Socket lazy = context.createSocket(SocketType.SUB);
            lazy.setRcvHWM(1);
            lazy.subscribe(new byte[0]);
            boolean _ = lazy.connect(publisher.endpoint());
            ZMQ.Socket eager = context.createSocket(SocketType.SUB);
            eager.subscribe(new byte[0]);
            boolean _ = eager.connect(publisher.endpoint());
            eager.setReceiveTimeOut(10_000);
            while (missed(meters) == 0) {
                assertThat(eager.recv()).isNotNull();
            }
            enough.set(true);
            assertThat(publisher.publishedEvents()).isPositive();
            assertThat(publisher.publishedBatches()).isEqualTo(publisher.publishedEvents());
        }
    }

    private static double missed(SimpleMeterRegistry meters) {
        return meters.get("cassia.kv.events.slow.subscriber.messages").functionCounter().count();
    }
}
