package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void a_document_keeps_its_order_and_escapes_its_texts() {
        assertThat(
                        Json.text(
                                Json.object(
                                        "b",
                                        1,
                                        "a",
                                        List.of(2L, 0.5, true, "x\"\n键"),
                                        "none",
                                        Json.Null.NULL)))
                .isEqualTo("{\"b\":1,\"a\":[2,0.5,true,\"x\\\"\\n键\"],\"none\":null}");
    }

    @Test
    void what_has_no_json_is_a_bug() {
        assertThatThrownBy(() -> Json.text(Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
