package io.cassia.gateways.rest;

import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.StorageNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The test's node lends what is asked for. Immutable. */
record NodeSegments(StorageNode node) implements SegmentHost {
    @Override
    public Outcome<List<String>> mount(long bytes) {
        return node.mount(bytes).map(NodeSegments::texts);
    }

    @Override
    public Outcome<List<String>> mount(FilePart part) {
        return node.mount(part.file(), part.offsetBytes(), part.lengthBytes())
                .map(NodeSegments::texts);
    }

    private static List<String> texts(List<Uuid> ids) {
        return ids.stream().map(Uuid::toString).toList();
    }

    @Override
    public List<String> lent() {
        return texts(node.segments().stream().map(Segment::id).toList());
    }

    @Override
    public Outcome<Done> unmount(String segment, Duration grace) {
        Optional<Segment> mine =
                node.segments().stream()
                        .filter(lent -> lent.id().toString().equals(segment))
                        .findFirst();
        return mine.isEmpty()
                ? Outcome.failed(StoreCode.SEGMENT_NOT_FOUND, "no segment " + segment)
                : node.unmount(mine.get().id(), grace);
    }
}
