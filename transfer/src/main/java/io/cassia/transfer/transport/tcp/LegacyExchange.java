package io.cassia.transfer.transport.tcp;

import io.cassia.transfer.net.Wire;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transfer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One unacknowledged request, the only one of its connection (spec 7.3): peers that speak version 1
 * may close after it, and do not say whether they do. Confined to the thread of the lane.
 *
 * <p>A READ is answered by its bytes alone. A WRITE is not answered; but a peer that has stored all
 * bytes closes after ours, and one that refused them resets the connection. So the end of the
 * stream stands for the acknowledgement.
 */
final class LegacyExchange {
    private static final long SLICE_BYTES = 1L << 30;

    private final Lane lane;
    private final ByteBuffer[] out = new ByteBuffer[2];

    LegacyExchange(Lane lane) {
        this.lane = lane;
    }

    void carryHead(Run run) throws IOException {
        Transfer head = run.head();
        head.sent();
        ByteBuffer header =
                ByteBuffer.allocateDirect(RequestLayout.LENGTH_BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN);
        RequestLayout.put(
                header, 0, head.lengthBytes(), head.remoteAddress(), head.isWrite(), false);
        if (head.isWrite()) {
            write(head, header);
        } else {
            read(head, header);
        }
        lane.context().flows().of(head.isWrite()).add(1, head.lengthBytes());
        run.completeHead();
    }

    private void write(Transfer head, ByteBuffer header) throws IOException {
        out[0] = header;
        long length = head.lengthBytes();
        for (long at = 0; at < length; at += Wire.WRITE_BYTES) {
            out[1] =
                    head.local()
                            .asSlice(at, Math.min(Wire.WRITE_BYTES, length - at))
                            .asByteBuffer();
            while (out[1].hasRemaining()) {
                lane.arm(head);
                lane.requireTime(head);
                lane.write(out, 0, 2);
            }
        }
        lane.shutdownOutput();
        lane.arm(head);
        ByteBuffer nothing = ByteBuffer.allocateDirect(1);
        if (lane.read(nothing) >= 0) {
            throw new Lane.ProtocolException(lane.peer() + " answered an unacknowledged WRITE");
        }
    }

    private void read(Transfer head, ByteBuffer header) throws IOException {
        out[0] = header;
        while (header.hasRemaining()) {
            lane.arm(head);
            lane.write(out, 0, 1);
        }
        long length = head.lengthBytes();
        long got = 0;
        while (got < length) {
            ByteBuffer slice =
                    head.local().asSlice(got, Math.min(SLICE_BYTES, length - got)).asByteBuffer();
            while (slice.hasRemaining()) {
                lane.arm(head);
                if (lane.read(slice) < 0) {
                    throw new IOException(
                            "closed by the peer after %d bytes; it may have rejected the range"
                                    .formatted(got + slice.position()));
                }
            }
            got += slice.limit();
        }
    }
}
