package io.cassia.datadist.exchange;

/**
 * What a successful transfer did. Immutable.
 *
 * @param bytes bytes moved
 * @param requests contiguous ranges that they were moved in, after neighbours were joined
 * @param waitNanos time until the link was free
 * @param controlNanos time for asking the peer and for its confirmation
 * @param dataNanos time for moving the bytes; for a push, of everything at the receiver
 */
public record TransferReport(
        long bytes, long requests, long waitNanos, long controlNanos, long dataNanos) {
    /** Both, one after the other. */
    TransferReport plus(TransferReport next) {
        return new TransferReport(
                bytes + next.bytes,
                requests + next.requests,
                waitNanos + next.waitNanos,
                controlNanos + next.controlNanos,
                dataNanos + next.dataNanos);
    }
}
