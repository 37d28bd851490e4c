package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

/**
 * Moves bytes between registered memory of processes, one-sidedly: the peer's application takes no
 * part. Guarded: every method may be called from any thread.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class TransferEngine implements AutoCloseable {
    private TransferEngine() {}

    /**
     * Opens the handshake and data ports and publishes an empty segment. ERR_SOCKET when no port
     * can be had, ERR_DNS when {@code localHost} does not resolve, ERR_METADATA when the metadata
     * server refuses or is not there.
     */
    public static Outcome<TransferEngine> start(
            TransferConfig config, Clock clock, MeterRegistry meters) {
        throw new UnsupportedOperationException();
    }

    /** The published segment name. */
    public String localName() {
        throw new UnsupportedOperationException();
    }

    /** The handshake port. */
    public int rpcPort() {
        throw new UnsupportedOperationException();
    }

    /** The data port. */
    public int dataPort() {
        throw new UnsupportedOperationException();
    }

    /** This engine's own segment. */
    public SegmentHandle localSegment() {
        throw new UnsupportedOperationException();
    }

    /**
     * Allocates memory that other processes of the host can map; ERR_MEMORY when the host has not
     * enough, ERR_INVALID_ARGUMENT for a length below 1. It is registered separately.
     */
    public Outcome<Region> allocate(long lengthBytes) {
        throw new UnsupportedOperationException();
    }

    /** Unmaps a region; ERR_BATCH_BUSY while a buffer of it is registered or a transfer uses it. */
    public Outcome<Done> free(Region region) {
        throw new UnsupportedOperationException();
    }

    /**
     * Makes native memory addressable by peers and publishes it. ERR_ADDRESS_OVERLAPPED when it
     * touches a registered range, ERR_INVALID_ARGUMENT for no bytes, heap memory, or memory of one
     * thread only; ERR_METADATA when publishing failed, and then it is not registered.
     */
    public Outcome<RegisteredBuffer> register(MemorySegment memory, BufferOptions options) {
        throw new UnsupportedOperationException();
    }

    /**
     * Takes a buffer from the peers: no new transfer starts, those in progress end or, after the
     * configured drain time, are aborted. On return nobody touches the memory for a peer.
     * ERR_ADDRESS_NOT_REGISTERED when it is not registered here, ERR_METADATA when the withdrawal
     * could not be published (the buffer is gone all the same).
     */
    public Outcome<Done> unregister(RegisteredBuffer buffer) {
        throw new UnsupportedOperationException();
    }

    /**
     * Finds a peer by its published name. ERR_INVALID_ARGUMENT for an empty name, ERR_DNS,
     * ERR_SOCKET, ERR_MALFORMED_JSON, ERR_METADATA when its descriptor cannot be had,
     * ERR_NOT_IMPLEMENTED when it speaks a protocol that this engine does not.
     */
    public Outcome<SegmentHandle> openSegment(String name) {
        throw new UnsupportedOperationException();
    }

    /** The buffers a peer published, in order of registration; read afresh from the peer. */
    public Outcome<List<RemoteBuffer>> remoteBuffers(SegmentHandle segment) {
        throw new UnsupportedOperationException();
    }

    /** A batch of that many tasks; ERR_INVALID_ARGUMENT when below 1 or above a million. */
    public Outcome<Batch> allocateBatch(int capacity) {
        throw new UnsupportedOperationException();
    }

    /**
     * Moves all requests; on return each has completed or failed, one outcome per request in their
     * order. Nothing writes to local memory after return, whatever happened.
     *
     * <p>The calling thread does the I/O. Requests to one peer run in order on one connection;
     * several peers are served at once, so that a slow one does not delay the others. ERR_SOCKET:
     * the peer cannot be reached, died, or did not answer within the deadline;
     * ERR_ADDRESS_NOT_REGISTERED: it rejected the range. The content of local memory of a READ that
     * failed, and of remote memory of a WRITE that failed, is undefined.
     */
    public List<Outcome<Done>> transfer(List<TransferRequest> requests, Duration deadline) {
        throw new UnsupportedOperationException();
    }

    /** Pushes a message to a peer; at most once. */
    public Outcome<Done> sendNotification(SegmentHandle target, Notification notification) {
        throw new UnsupportedOperationException();
    }

    /** Takes all messages that peers have pushed, in order of arrival. */
    public List<Notification> drainNotifications() {
        throw new UnsupportedOperationException();
    }

    /** Asks whether a peer's engine is alive. */
    public Outcome<Done> probe(SegmentHandle target) {
        throw new UnsupportedOperationException();
    }

    /** Withdraws the segment, ends all transfers and frees the regions. Idempotent. */
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
