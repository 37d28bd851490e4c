package io.cassia.rpc;

import io.cassia.base.ByteString;
import java.net.SocketAddress;

/**
 * What a handler may know of a call beside its arguments. Confined to the handler's call: it must
 * not be kept.
 */
public final class RpcContext {
    private final SocketAddress peer;
    private final Attachment request;
    private Attachment response = Attachment.NONE;

    RpcContext(SocketAddress peer, Attachment request) {
        this.peer = peer;
        this.request = request;
    }

    /** Remote address of the connection. */
    public SocketAddress peer() {
        return peer;
    }

    /** What came with the request; {@link Attachment#NONE} from a peer of upstream. */
    public Attachment request() {
        return request;
    }

    /**
     * Adds a section to the response. Only for a caller whose request shows that it knows the tag.
     */
    public void respond(int tag, ByteString content) {
        response = response.with(tag, content);
    }

    Attachment response() {
        return response;
    }
}
