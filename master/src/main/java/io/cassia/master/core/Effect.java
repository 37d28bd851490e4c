package io.cassia.master.core;

import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;

/** What happened inside the state machine that people should hear of. Immutable. */
public sealed interface Effect {
    record SegmentMounted(Segment segment, Uuid client) implements Effect {}

    record SegmentUnmounted(Segment segment, Uuid owner, Uuid by) implements Effect {}

    /** All objects of an unmounted segment are gone. */
    record SegmentSwept(Segment segment) implements Effect {}

    /** A client was silent for too long; its data is kept for the time being. */
    record ClientSuspected(Uuid client, long silentNanos, int segments) implements Effect {}

    /** A suspected client was heard of again. */
    record ClientReturned(Uuid client, long silentNanos) implements Effect {}

    record ClientExpired(Uuid client, long silentNanos, int segments) implements Effect {}

    /** Puts find no space although objects were evicted, or none may be; why is in the text. */
    record EvictionFruitless(long times, String why) implements Effect {}

    record TimerStalled(long nanos) implements Effect {}
}
