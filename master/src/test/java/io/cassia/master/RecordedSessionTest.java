package io.cassia.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.mooncake.CopyStartResult;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.MoveStartResult;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.TaskAssignment;
import io.cassia.rpc.mooncake.TaskInfo;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.rpc.pack.WireReader;
import io.cassia.status.Outcome;
import io.cassia.testkit.RpcVector;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The session that was recorded with upstream's master, byte for byte and in its order, against
 * this one: results and codes are the same.
 */
class RecordedSessionTest {
    private static final Duration LEASE = Duration.ofMillis(500);

    /** Parts of the variants of other sessions, with masters that were set up differently. */
    private static final Set<String> OTHER_SESSIONS =
            Set.of(
                    "dyn ",
                    "dynamic",
                    "puzzle",
                    "token mismatch",
                    "wrong epoch",
                    "ok (2)",
                    "(1 replica)",
                    "(2 replicas)",
                    "tenant-a",
                    "strict",
                    "nobody",
                    "tenant master",
                    "default tenant without");

    /** Methods of features that this master does not have: only what is refused is compared. */
    private static final Set<String> ABSENT =
            Set.of(
                    "MountLocalDiskSegment",
                    "UnmountLocalDiskSegment",
                    "OffloadObjectHeartbeat",
                    "PollRemoveAll",
                    "ReportSsdCapacity",
                    "NotifyOffloadSuccess",
                    "PromotionObjectHeartbeat",
                    "PromotionAllocStart",
                    "NotifyPromotionSuccess",
                    "NotifyPromotionFailure",
                    "EvictDiskReplica",
                    "BatchEvictDiskReplica");

    private static final Set<String> ABSENT_BUT_COMPARED =
            Set.of(
                    "raw: not registered",
                    "raw: client not registered",
                    "raw: list sizes differ",
                    "raw: empty",
                    "raw: no task",
                    "raw: missing",
                    "raw: missing key",
                    "raw: MEMORY refused",
                    "raw: unknown",
                    "raw: bad status");

    /** Calls that only make sense with a copy, an offload or an object on an SSD before them. */
    private static final Set<String> NOT_SENT =
            Set.of(
                    "UpsertStart: raw: offload running",
                    "GetReplicaList: raw: memory + local disk",
                    "GetReplicaList: raw: local disk only",
                    "GetReplicaList: raw: local disk only o2",
                    "GetReplicaList: raw: promoted",
                    "PromotionObjectHeartbeat: raw: empty",
                    "NotifyPromotionSuccess: raw: no task");

    /** Where this master answers otherwise, and why. */
    private static final Map<String, String> DIFFERENT =
            Map.of(
                    "GetReplicaList: raw: in-place upsert in progress",
                    "the old version stays readable until the new one is complete",
                    "RemoveAll: raw: default tenant",
                    "the recording had objects on an SSD too");

    private final Map<Uuid, Uuid> taskIds = new HashMap<>();
    private final AtomicLong nanos = new AtomicLong(1);
    private final Clock clock =
            new Clock() {
                @Override
                public long nanos() {
                    return nanos.get();
                }

                @Override
                public long epochMillis() {
                    return 0;
                }
            };

    private static Map<String, RpcMethod<?, ?>> methods() {
        Map<String, RpcMethod<?, ?>> methods = new HashMap<>();
        for (RpcMethod<?, ?> method : MasterMethods.ALL) {
            methods.put(method.shortName(), method);
        }
        return methods;
    }

    private static List<RpcVector> session() {
        Map<Integer, RpcVector> bySequence = new TreeMap<>();
        for (RpcVector vector : RpcVector.requireAll()) {
            boolean other =
                    OTHER_SESSIONS.stream().anyMatch(vector.variant()::contains)
                            || (vector.method().startsWith("DynamicReplica")
                                    && vector.variant().equals("raw: ok"));
            if (vector.source().equals("raw") && !vector.method().equals("(protocol)") && !other) {
                int sequence = vector.arguments().get("seq_num").asInt();
                RpcVector before = bySequence.put(sequence, vector);
                assertThat(before).as("%s and %s", before, vector).isNull();
            }
        }
        return List.copyOf(bySequence.values());
    }

    @Test
    void results_and_codes_are_those_of_the_recording() throws IOException {
        List<RpcVector> session = session();
        MasterConfig config =
                MasterConfig.builder()
                        .rpc("127.0.0.1", 0)
                        .httpOff()
                        .defaultLeaseTtl(LEASE)
                        .clientTtl(Duration.ofHours(1))
                        .build();
        List<String> differences = new ArrayList<>();
        List<String> different = new ArrayList<>();
        int compared = 0;
        try (Master master = Master.start(config, clock, new SimpleMeterRegistry()).orThrow();
                RawConnection connection = new RawConnection(master.rpcPort())) {
            Map<String, RpcMethod<?, ?>> methods = methods();
            for (RpcVector vector : session) {
                boolean absent = ABSENT.contains(vector.method());
                if (NOT_SENT.contains(vector.toString())
                        || (absent && !ABSENT_BUT_COMPARED.contains(vector.variant()))) {
                    continue;
                }
                RpcMethod<?, ?> method = Objects.requireNonNull(methods.get(vector.method()));
                letTimePass(vector);
                RawConnection.Answer answer = connection.exchange(translated(vector.request()));
                assertThat(answer.error()).as(vector.toString()).isZero();
                Object recorded = read(method, vector.responseBody());
                Object answered = read(method, answer.body());
                learn(recorded, answered);
                String expected = shape(recorded);
                String actual = shape(answered);
                compared++;
                if (!expected.equals(actual)) {
                    (DIFFERENT.containsKey(vector.toString()) ? different : differences)
                            .add(vector + ": expected " + expected + " but was " + actual);
                }
            }
        }
        assertThat(differences).isEmpty();
        assertThat(different).as("all that is said to differ does").hasSize(DIFFERENT.size());
        assertThat(compared).isGreaterThan(150);
    }

    /** Ids of tasks are made by the master: ours stand for the recorded ones. */
    private void learn(Object recorded, Object answered) {
        if (recorded instanceof Outcome.Ok<?>(Uuid theirs)
                && answered instanceof Outcome.Ok<?>(Uuid ours)) {
            taskIds.put(theirs, ours);
        }
    }

    private byte[] translated(byte[] request) {
        byte[] bytes = request.clone();
        ByteBuffer view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at + 16 <= bytes.length; at++) {
            Uuid ours = taskIds.get(new Uuid(view.getLong(at), view.getLong(at + 8)));
            if (ours != null) {
                view.putLong(at, ours.first());
                view.putLong(at + 8, ours.second());
            }
        }
        return bytes;
    }

    /** Where the recording waited, and where it did not. */
    private void letTimePass(RpcVector vector) {
        boolean waits =
                switch (vector.method()) {
                    case "BatchReplicaClear", "RemoveAll", "RemoveByRegex" -> true;
                    case "QuerySegmentStatusById" -> vector.variant().equals("raw: after grace");
                    default -> false;
                };
        if (waits) {
            nanos.addAndGet(LEASE.plusMillis(100).toNanos());
        }
        if (vector.variant().equals("raw: after grace")) {
            // The timer runs in real time and sees the new time at its next tick.
            LockSupport.parkNanos(Duration.ofMillis(350).toNanos());
        }
    }

    private static <R> R read(RpcMethod<?, R> method, byte[] body) {
        return method.result().read(new WireReader().reset(body, 0, body.length));
    }

    /** What must agree: codes, flags, counts, states and sizes, but not places and numbers. */
    private static String shape(Object value) {
        return switch (value) {
            case Outcome.Failed<?> failed -> failed.code().label();
            case Outcome.Ok<?> ok -> "ok(" + shape(ok.value()) + ")";
            case List<?> list ->
                    list.stream()
                            .map(RecordedSessionTest::shape)
                            .collect(Collectors.joining(", ", "[", "]"));
            case Map<?, ?> map ->
                    map.entrySet().stream()
                            .sorted(Comparator.comparing(e -> e.getKey().toString()))
                            .map(e -> e.getKey() + "=" + shape(e.getValue()))
                            .collect(Collectors.joining(", ", "{", "}"));
            case ReplicaList list ->
                    shape(list.replicas()) + " " + list.leaseTtlMs() + " " + list.objectChecksum();
            case Uuid _ -> "id";
            case Optional<?> optional -> optional.map(RecordedSessionTest::shape).orElse("none");
            case CopyStartResult copy -> shape(copy.source()) + " to " + shape(copy.targets());
            case MoveStartResult move -> shape(move.source()) + " to " + shape(move.target());
            case TaskInfo task ->
                    task.type()
                            + " "
                            + task.status()
                            + " "
                            + task.assignedClient()
                            + task.message();
            case TaskAssignment task ->
                    task.type() + " " + task.payload() + " " + task.maxRetryAttempts();
            case ReplicaDescriptor replica -> replica.status() + ":" + size(replica.placement());
            default -> value.toString();
        };
    }

    private static String size(Placement placement) {
        return placement instanceof Placement.Memory memory
                ? "memory " + memory.buffer().size() + " " + memory.buffer().protocol()
                : placement.toString();
    }
}
