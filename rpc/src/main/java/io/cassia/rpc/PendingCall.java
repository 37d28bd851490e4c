package io.cassia.rpc;

import java.net.SocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request of a batch on its way from bytes to bytes. Confined to the connection's thread;
 * reused for later requests.
 *
 * <pre>
 * FREE -- accept --> ACCEPTED -- handle --> ANSWERED | FAILED -- release --> FREE
 * FREE -- refuse ------------------------------------> FAILED -- release --> FREE
 * </pre>
 */
final class PendingCall {
    private int sequence;
    private boolean wantsDetails;
    private @Nullable Registration<?, ?> registration;
    private @Nullable RpcContext context;
    private @Nullable Object arguments;
    private @Nullable Object result;
    private @Nullable RpcError error;
    private String errorText = "";

    /** A request that a handler will answer. */
    void accept(
            int sequence,
            Registration<?, ?> registration,
            Object arguments,
            Attachment attachment,
            SocketAddress peer) {
        this.sequence = sequence;
        this.registration = registration;
        this.arguments = arguments;
        this.wantsDetails =
                !attachment.isEmpty() && attachment.find(Attachment.DETAILS).isPresent();
        this.context = registration.contextual() ? new RpcContext(peer, attachment) : null;
    }

    /** A request that no handler will see. */
    void refuse(int sequence, RpcError error, String text) {
        this.sequence = sequence;
        this.error = error;
        this.errorText = text;
    }

    /** The handler failed. */
    void fail(RpcError error, String text) {
        this.error = error;
        this.errorText = text;
    }

    /** Calls the handler, if there is one to call. */
    void handle() {
        if (registration != null && arguments != null) {
            registration.requests().increment();
            result = registration.handle(arguments, context);
        }
    }

    /** Lets go of what the request held. */
    void release() {
        registration = null;
        context = null;
        arguments = null;
        result = null;
        error = null;
        wantsDetails = false;
    }

    int sequence() {
        return sequence;
    }

    boolean wantsDetails() {
        return wantsDetails;
    }

    Registration<?, ?> registration() {
        return Objects.requireNonNull(registration);
    }

    Object result() {
        return Objects.requireNonNull(result);
    }

    @Nullable RpcError error() {
        return error;
    }

    String errorText() {
        return errorText;
    }

    Attachment responseAttachment() {
        return context == null ? Attachment.NONE : context.response();
    }

    /** For log lines. */
    String methodName() {
        return registration == null ? "?" : registration.method().name();
    }
}
