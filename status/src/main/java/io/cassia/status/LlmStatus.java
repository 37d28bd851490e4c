package io.cassia.status;

/**
 * Status codes of LLM-DataDist. Numbers are unsigned 32-bit, written in hexadecimal ({@code
 * 0x5010B001}); {@link #number()} is the same bits as a signed {@code int}. Immutable.
 *
 * <p>Names and numbers are a contract: they are never reused or renumbered (a golden file pins
 * them).
 */
public enum LlmStatus implements Code {
    LLM_SUCCESS(0x0),
    LLM_FAILED(0xFFFFFFFF),
    LLM_WAIT_PROC_TIMEOUT(0x5010B001),
    LLM_KV_CACHE_NOT_EXIST(0x5010B002),
    LLM_PARAM_INVALID(0x5010B005),
    LLM_NOT_YET_LINK(0x5010B007),
    LLM_ALREADY_LINK(0x5010B008),
    LLM_LINK_FAILED(0x5010B009),
    LLM_UNLINK_FAILED(0x5010B00A),
    LLM_NOTIFY_PROMPT_UNLINK_FAILED(0x5010B00B),
    LLM_CLUSTER_NUM_EXCEED_LIMIT(0x5010B00C),
    LLM_PROCESSING_LINK(0x5010B00D),
    LLM_DEVICE_OUT_OF_MEMORY(0x5010B00E),
    LLM_EXIST_LINK(0x5010B018),
    LLM_FEATURE_NOT_ENABLED(0x5010B019),
    LLM_TIMEOUT(0x5010B01A),
    LLM_LINK_BUSY(0x5010B01B),
    LLM_OUT_OF_MEMORY(0x5010B01C);

    private final int number;

    LlmStatus(int number) {
        this.number = number;
    }

    @Override
    public Family family() {
        return Family.LLM_DATADIST;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public boolean isOk() {
        return this == LLM_SUCCESS;
    }

    /**
     * The code with this number; a number that the family does not define is kept as {@link
     * UnknownCode}.
     */
    public static Code fromInt(int number) {
        return CodeIndex.find(Family.LLM_DATADIST, number);
    }
}
