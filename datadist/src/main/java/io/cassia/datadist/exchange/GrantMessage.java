package io.cassia.datadist.exchange;

import io.cassia.base.ByteString;
import io.cassia.datadist.link.Frame;
import io.cassia.datadist.link.FrameType;
import io.cassia.datadist.link.StatusMessage;
import io.cassia.datadist.link.WireReader;
import io.cassia.datadist.link.WireWriter;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.util.ArrayList;
import java.util.List;

/**
 * Leave to read memory of the sender until its lease ends. Immutable.
 *
 * @param leaseId number that {@link DoneMessage} gives back
 * @param confirm whether the transfer only counts when the sender has confirmed its end
 * @param addresses where each selected tensor is to be read from
 */
record GrantMessage(long leaseId, boolean confirm, List<Long> addresses) {
    GrantMessage {
        addresses = List.copyOf(addresses);
    }

    ByteString encode() {
        return write(new WireWriter()).toBody();
    }

    WireWriter write(WireWriter out) {
        out.varint(leaseId).flag(confirm).varint(addresses.size());
        long before = 0;
        for (long address : addresses) {
            out.signed(address - before);
            before = address;
        }
        return out;
    }

    static GrantMessage decode(ByteString body) {
        return read(new WireReader(body));
    }

    /** What a PULL of so many tensors was answered with: a grant, or why there is none. */
    static Outcome<GrantMessage> answer(Frame frame, int tensors) {
        if (frame.type() == FrameType.STATUS
                && StatusMessage.decode(frame.body()) instanceof Outcome.Failed<Done> refused) {
            return refused.as();
        }
        if (frame.type() != FrameType.GRANT) {
            throw new WireReader.Malformed(frame.type() + " in the place of GRANT");
        }
        GrantMessage grant = decode(frame.body());
        if (grant.addresses().size() != tensors) {
            throw new WireReader.Malformed(
                    "%d addresses were granted for %d tensors"
                            .formatted(grant.addresses().size(), tensors));
        }
        return Outcome.ok(grant);
    }

    static GrantMessage read(WireReader in) {
        long leaseId = in.varint();
        boolean confirm = in.flag();
        int count = in.count(1);
        List<Long> addresses = new ArrayList<>(count);
        long before = 0;
        for (int i = 0; i < count; i++) {
            before += in.signed();
            addresses.add(before);
        }
        return new GrantMessage(leaseId, confirm, addresses);
    }
}
