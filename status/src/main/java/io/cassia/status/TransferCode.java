package io.cassia.status;

/**
 * Return codes of the Transfer Engine. Numbers are those of Mooncake's {@code error.h}: 0 or a
 * negative {@code int}. Immutable.
 *
 * <p>Names and numbers are a contract: they are never reused or renumbered (a golden file pins
 * them).
 */
public enum TransferCode implements Code {
    OK(0),
    ERR_INVALID_ARGUMENT(-1),
    ERR_TOO_MANY_REQUESTS(-2),
    ERR_ADDRESS_NOT_REGISTERED(-3),
    ERR_BATCH_BUSY(-4),
    ERR_BATCH_CLEANUP_DEFERRED(-5),
    ERR_DEVICE_NOT_FOUND(-6),
    ERR_ADDRESS_OVERLAPPED(-7),
    ERR_DNS(-101),
    ERR_SOCKET(-102),
    ERR_MALFORMED_JSON(-103),
    ERR_REJECT_HANDSHAKE(-104),
    ERR_METADATA(-200),
    ERR_ENDPOINT(-201),
    ERR_CONTEXT(-202),
    ERR_NUMA(-300),
    ERR_CLOCK(-301),
    ERR_MEMORY(-302),
    ERR_NOT_IMPLEMENTED(-303);

    private final int number;

    TransferCode(int number) {
        this.number = number;
    }

    @Override
    public Family family() {
        return Family.TRANSFER_ENGINE;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public boolean isOk() {
        return this == OK;
    }

    /**
     * The code with this number; a number that the family does not define is kept as {@link
     * UnknownCode}.
     */
    public static Code fromInt(int number) {
        return CodeIndex.find(Family.TRANSFER_ENGINE, number);
    }
}
