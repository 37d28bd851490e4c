package io.cassia.app.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ConversationWorkloadTest {
    private static String text(Trace trace) {
        StringBuilder text = new StringBuilder();
        for (int request = 0; request < trace.requests(); request++) {
            text.append(trace.timestampMillis(request));
            for (int i = trace.start(request); i < trace.end(request); i++) {
                text.append(' ').append(trace.id(i));
            }
            text.append('\n');
        }
        return text.toString();
    }

    @Test
    void the_same_seed_gives_the_same_trace_and_another_one_another() {
        assertThat(text(ConversationWorkload.trace(1, 500)))
                .isEqualTo(text(ConversationWorkload.trace(1, 500)))
                .isNotEqualTo(text(ConversationWorkload.trace(2, 500)));
    }

    @Test
    void conversations_share_prefixes_and_no_request_repeats_a_block() {
        Trace trace = ConversationWorkload.trace(3, 2000);
        assertThat(trace.requests()).isEqualTo(2000);
        assertThat(trace.distinctBlocks()).isBetween(trace.blocks() / 10, trace.blocks() / 2);
        for (int request = 0; request < trace.requests(); request++) {
            Set<Long> ids = new HashSet<>();
            for (int i = trace.start(request); i < trace.end(request); i++) {
                ids.add(trace.id(i));
            }
            assertThat(ids).hasSize(trace.end(request) - trace.start(request)).isNotEmpty();
        }
    }
}
