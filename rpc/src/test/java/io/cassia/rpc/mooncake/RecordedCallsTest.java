package io.cassia.rpc.mooncake;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.pack.Packed;
import io.cassia.rpc.pack.WireBody;
import io.cassia.testkit.RpcVector;
import io.cassia.testkit.SharedFiles;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Every call that was recorded between upstream's programs, read and written again. */
class RecordedCallsTest {
    private static final Map<String, RpcMethod<?, ?>> METHODS =
            MasterMethods.ALL.stream()
                    .collect(Collectors.toMap(RecordedCallsTest::label, Function.identity()));

    /** How the recording names a method: bare for the master, with its class for a peer. */
    private static String label(RpcMethod<?, ?> method) {
        return method.name()
                .replace("mooncake::WrappedMasterService::", "")
                .replace("mooncake::", "");
    }

    private static RpcMethod<?, ?> method(String label) {
        return Objects.requireNonNull(METHODS.get(label), label);
    }

    @Test
    void the_table_is_that_of_the_recording() {
        List<String> lines = SharedFiles.requireLines("wire/rpc-types.tsv");
        Set<String> seen = new HashSet<>();
        for (String line : lines.subList(1, lines.size())) {
            List<String> columns = List.of(line.split("\t", -1));
            RpcMethod<?, ?> method = method(columns.get(0));
            assertThat("%08x".formatted(method.functionId())).isEqualTo(columns.get(1));
            assertThat(literal(method.arguments())).as(line).isEqualTo(columns.get(2));
            assertThat(hash(method.arguments())).as(line).isEqualTo(columns.get(3));
            assertThat(literal(method.result())).as(line).isEqualTo(columns.get(4));
            assertThat(hash(method.result())).as(line).isEqualTo(columns.get(5));
            seen.add(columns.get(0));
        }
        assertThat(seen).hasSize(66).isEqualTo(METHODS.keySet());
    }

    private static String literal(WireBody<?> body) {
        return body.isEmpty() ? "-" : HexFormat.of().formatHex(body.type().literal().array());
    }

    private static String hash(WireBody<?> body) {
        return body.isEmpty() ? "-" : "%08x".formatted(Integer.reverseBytes(body.hash()));
    }

    @Test
    void every_request_means_what_was_recorded_and_is_written_the_same() {
        List<String> failures = new ArrayList<>();
        int checked = 0;
        for (RpcVector vector : calls()) {
            boolean shortForm =
                    vector.arguments().get("meta") == null
                            || vector.arguments().get("meta").isNull();
            check(
                    vector + " request",
                    method(vector.method()).arguments(),
                    vector.requestBody(),
                    shortForm,
                    vector.arguments().get("args"),
                    failures);
            checked++;
        }
        assertThat(failures).isEmpty();
        assertThat(checked).isGreaterThan(560);
    }

    @Test
    void every_response_means_what_was_recorded_and_is_written_the_same() {
        List<String> failures = new ArrayList<>();
        for (RpcVector vector : calls()) {
            assertThat(vector.answer().get("err_code").asInt()).as(vector.toString()).isZero();
            check(
                    vector + " response",
                    method(vector.method()).result(),
                    vector.responseBody(),
                    false,
                    vector.answer().get("result"),
                    failures);
        }
        assertThat(failures).isEmpty();
    }

    private static List<RpcVector> calls() {
        return RpcVector.requireAll().stream()
                .filter(vector -> !vector.method().equals("(protocol)"))
                .toList();
    }

    private static <T> void check(
            String what,
            WireBody<T> body,
            byte[] recorded,
            boolean shortForm,
            tools.jackson.databind.JsonNode meaning,
            List<String> failures) {
        T value = Packed.read(body, recorded);
        if (!body.isEmpty()) {
            for (String difference : JsonComparison.differences(value, meaning)) {
                failures.add(what + difference);
            }
        }
        byte[] written =
                shortForm ? Packed.shortForm(body, value) : Packed.withLiteral(body, value);
        if (!Packed.hex(written).equals(Packed.hex(recorded))) {
            failures.add(what + ": written " + Packed.hex(written));
        }
    }
}
