package io.cassia.transfer.transport;

/** A way to move bytes, the fastest first. Immutable; the labels are metric tags and wire texts. */
public enum Transport {
    /** Inside this process: a copy. */
    LOCAL("local"),
    /** Between processes of one user and host: a copy to or from memory that both map. */
    SHM("shm"),
    /** The same for memory that only its owner maps: the kernel copies. */
    PROCESS_VM("process-vm"),
    /** Between processes of one user and host: the data protocol over a Unix-domain socket. */
    UDS("uds"),
    /** Anywhere: the data protocol over TCP. */
    TCP("tcp");

    private final String label;

    Transport(String label) {
        this.label = label;
    }

    public String label() {
        return label;
    }
}
