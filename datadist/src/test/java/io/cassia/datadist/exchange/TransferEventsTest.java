package io.cassia.datadist.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Clusters;
import io.cassia.datadist.link.Announcer;
import io.cassia.datadist.link.OpKind;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

final class TransferEventsTest {
    private final Counter dropped = new SimpleMeterRegistry().counter("dropped");
    private final TransferEvents events = new TransferEvents(dropped, new Announcer(dropped));

    @Test
    void the_oldest_events_make_room_and_are_counted() {
        for (int i = 0; i < TransferEvents.CAPACITY + 3; i++) {
            events.publish(event(i));
        }
        assertThat(dropped.count()).isEqualTo(3);
        assertThat(events.poll(2)).extracting(TransferEvent::cacheId).containsExactly(3L, 4L);
        assertThat(events.poll(Integer.MAX_VALUE)).hasSize(TransferEvents.CAPACITY - 2);
        assertThat(events.poll(1)).isEmpty();
    }

    @Test
    void a_listener_that_throws_does_not_disturb_the_others() {
        List<TransferEvent> heard = new CopyOnWriteArrayList<>();
        events.addListener(
                event -> {
                    throw new IllegalStateException("bad listener");
                });
        events.addListener(heard::add);
        events.publish(event(1));
        assertThat(Clusters.eventually(() -> heard.size() == 1)).isTrue();
    }

    private static TransferEvent event(long cacheId) {
        return new TransferEvent(OpKind.PUSH, 1, cacheId, 0, 0, 2, 8, false, Outcome.done());
    }
}
