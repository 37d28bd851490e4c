package io.cassia.transfer.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocationTest {
    @ParameterizedTest
    @ValueSource(
            strings = {"*", "cpu:0", "cpu:12", "cuda:7", "npu:0", "musa:3", "segments:4096:0,1,1"})
    void locations_are_read_and_printed_alike(String text) {
        assertThat(Location.parse(text).orThrow()).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "cpu",
                "cpu:",
                "cpu:-1",
                "cpu:x",
                "cpu:99999",
                "cuda:1:2",
                "CPU:0",
                " cpu:0",
                "segments:4096",
                "segments:4096:",
                "segments:0:1",
                "segments:-4096:1",
                "segments:1000:0",
                "segments:4096:0,",
                "segments:4096:0,-1",
                "segments:99999999999999999999:0",
            })
    void anything_else_is_invalid(String text) {
        assertThat(Location.parse(text))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
                            assertThat(failed.detail()).contains("\"" + text + "\"");
                        });
    }

    @Test
    void equal_pieces_are_whole_pages_and_the_rest_is_the_last_ones() {
        Location.Pieces pieces = pieces("segments:4096:2,0,1");
        long total = 10 * 4096 + 100;
        assertThat(pieces.pieceBytes(total)).isEqualTo(3 * 4096);
        assertThat(IntStream.range(0, 11).map(i -> pieces.nodeAt(i * 4096L, total)))
                .containsExactly(2, 2, 2, 0, 0, 0, 1, 1, 1, 1, 1);
        assertThat(pieces.ranges(total))
                .containsExactly(
                        NodeRange.on(0, 3 * 4096, 2),
                        NodeRange.on(3 * 4096, 3 * 4096, 0),
                        NodeRange.on(6 * 4096, 4 * 4096 + 100, 1));
    }

    @Test
    void a_short_range_uses_the_first_nodes_a_page_each() {
        Location.Pieces pieces = pieces("segments:4096:0,1,2,3");
        assertThat(pieces.ranges(5000))
                .isEqualTo(List.of(NodeRange.on(0, 4096, 0), NodeRange.on(4096, 904, 1)));
        assertThat(pieces.nodeAt(4999, 5000)).isEqualTo(1);
    }

    @Test
    void ranges_and_node_of_each_byte_agree() {
        for (long total = 1; total < 200; total++) {
            for (String text : List.of("segments:4:0,1,2", "segments:16:5", "segments:1:3,1")) {
                Location.Pieces pieces = pieces(text);
                long next = 0;
                for (NodeRange range : pieces.ranges(total)) {
                    assertThat(range.offsetBytes()).isEqualTo(next);
                    next += range.lengthBytes();
                    for (long at = range.offsetBytes(); at < next; at++) {
                        assertThat(pieces.nodeAt(at, total)).isEqualTo(range.node().orElseThrow());
                    }
                }
                assertThat(next).isEqualTo(total);
            }
        }
    }

    @Test
    void cpu_lists_are_read_and_printed_alike() {
        for (String text : List.of("", "0", "0-3", "0-3,8", "0,2,4", "63-64,1000-1023")) {
            assertThat(CpuSet.parse(text).orElseThrow()).hasToString(text);
        }
        for (String text : List.of("x", "3-1", "1,", "-1", "0-99999999", "1--2")) {
            assertThat(CpuSet.parse(text)).isEmpty();
        }
    }

    private static Location.Pieces pieces(String text) {
        return (Location.Pieces) Location.parse(text).orThrow();
    }
}
