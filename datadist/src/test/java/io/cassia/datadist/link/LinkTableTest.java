package io.cassia.datadist.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.datadist.Expect;
import io.cassia.status.LlmStatus;
import org.junit.jupiter.api.Test;

/** Who gets a place. */
final class LinkTableTest {
    private static final Peer DECODER = new Peer(7, LlmRole.DECODER, 1, true, false, "here:15000");

    private final LinkTable table = new LinkTable(1, 512, 1, Clock.system());

    @Test
    void a_handshake_that_outlives_the_listener_makes_no_link() {
        assertThat(table.freezeIfEmpty("the role is switching")).isTrue();
        Expect.failed(
                table.accept(DECODER, "10.0.0.7:9", null),
                LlmStatus.LLM_LINK_FAILED,
                "the role is switching");
        table.thaw("nobody listens");
        Expect.failed(
                table.accept(DECODER, "10.0.0.7:9", null),
                LlmStatus.LLM_LINK_FAILED,
                "nobody listens");
        Expect.ok(table.reserve(ClusterInfo.of(9, "10.0.0.9", 26000)));
        table.thaw("");
        Expect.ok(table.accept(DECODER, "10.0.0.7:9", null));
        assertThat(table.links()).hasSize(2);
    }
}
