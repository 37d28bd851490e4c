package io.cassia.transfer.transport;

/** Why a transport and not a faster one. Immutable; the labels are metric tags. */
public enum RouteReason {
    /** No faster one would do for this target. */
    PREFERRED("preferred"),
    /** The configuration of this engine does not allow the faster ones. */
    NOT_ALLOWED("not-allowed"),
    /** This engine cannot use them: not Linux, no shared memory, a closed-down kernel. */
    NOT_SUPPORTED("not-supported"),
    /** The peer does not offer them; C++ peers never do. */
    NOT_OFFERED("not-offered"),
    /** The peer runs under another kernel. */
    OTHER_HOST("other-host"),
    /** The peer belongs to another user. */
    OTHER_USER("other-user"),
    /** The peer's process cannot be seen from here, so nobody could tell when it dies. */
    OTHER_PID_NAMESPACE("other-pid-namespace"),
    /** The peer is in this process; only a local copy makes sense there. */
    SAME_PROCESS("same-process"),
    /** The peer's control file cannot be opened from here. */
    NO_ACCESS("no-access"),
    /** The peer's control file does not bear out what its descriptor says. */
    UNPROVEN("unproven"),
    /** The peer's control file has another layout. */
    OTHER_LAYOUT("other-layout"),
    /** The process that the descriptor speaks of has ended, or has closed its engine. */
    OWNER_GONE("owner-gone"),
    /** Too many processes or threads use the peer's memory at once. */
    CROWDED("crowded"),
    /** The peer had no room in its control file for some buffer. */
    NO_SLOT("no-slot"),
    /** The memory is not in a shared file. */
    FOREIGN_MEMORY("foreign-memory"),
    /** The shared file cannot be mapped. */
    UNMAPPABLE("unmappable"),
    /** The kernel does not let this process copy the peer's memory. */
    KERNEL_REFUSED("kernel-refused"),
    /** The memory was not there; the peer itself must say what is the matter. */
    FAULT("fault"),
    /** The peer's Unix-domain socket does not answer. */
    SOCKET_LOST("socket-lost");

    private final String label;

    RouteReason(String label) {
        this.label = label;
    }

    public String label() {
        return label;
    }
}
