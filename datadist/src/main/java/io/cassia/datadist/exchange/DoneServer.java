package io.cassia.datadist.exchange;

import io.cassia.datadist.link.Frame;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.link.OpKind;
import io.cassia.status.Done;
import io.cassia.status.Outcome;

/** Hears that a peer has ended its reading: consumes keys, wakes who pushed. Immutable. */
final class DoneServer {
    private final ExchangeParts parts;

    DoneServer(ExchangeParts parts) {
        this.parts = parts;
    }

    void serve(Link link, Frame frame) {
        DoneMessage message = DoneMessage.decode(frame.body());
        switch (parts.leases().finish(message.leaseId(), link)) {
            case Outcome.Failed<Lease> failed -> link.channel().answer(frame, failed);
            case Outcome.Ok<Lease>(Lease lease) -> {
                if (lease.kind() == OpKind.PULL) {
                    pulled(link, frame, lease, message);
                } else {
                    lease.letGo();
                    boolean ignored = lease.end().complete(Outcome.ok(message));
                    link.channel().answer(frame, Outcome.done());
                }
            }
        }
    }

    private void pulled(Link link, Frame frame, Lease lease, DoneMessage message) {
        Outcome<Done> outcome = message.outcome();
        Outcome<Done> answer = Outcome.done();
        if (outcome.isOk() && lease.consumes()) {
            answer = parts.caches().consume(lease.pin(), lease.tensors());
            outcome = answer;
        }
        lease.letGo();
        link.channel().answer(frame, answer);
        parts.events()
                .publish(
                        new TransferEvent(
                                OpKind.PULL,
                                link.peerId(),
                                lease.pin().cacheId(),
                                lease.pin().batchIndex(),
                                lease.tensors().first(),
                                lease.tensors().count(),
                                message.bytes(),
                                lease.consumes() && answer.isOk(),
                                outcome));
    }
}
