package io.cassia.status;

/**
 * The area that a number belongs to, by its numeric range: it says something even about a number
 * that this release does not know. Immutable. Source: the ranges of the public error-code pages;
 * LLM-DataDist has no ranges, its page sorts by recoverability.
 */
public enum Category {
    TRANSFER_SUCCESS(Family.TRANSFER_ENGINE, 0, 0, "success", "成功"),
    TRANSFER_ARGUMENT(Family.TRANSFER_ENGINE, -1, -99, "argument", "参数"),
    TRANSFER_HANDSHAKE(Family.TRANSFER_ENGINE, -100, -199, "handshake", "握手"),
    TRANSFER_OTHER(Family.TRANSFER_ENGINE, -200, -399, "other", "其他"),
    STORE_SUCCESS(Family.STORE, 0, 0, "success", "成功"),
    STORE_INTERNAL(Family.STORE, -1, -9, "internal", "内部"),
    STORE_BUFFER(Family.STORE, -10, -99, "buffer-allocation", "缓冲区分配"),
    STORE_SEGMENT(Family.STORE, -100, -199, "segment-selection", "段选择"),
    STORE_HANDLE(Family.STORE, -200, -299, "handle-selection", "空间选择"),
    STORE_VERSION(Family.STORE, -300, -399, "version", "版本"),
    STORE_KEY(Family.STORE, -400, -499, "key", "键"),
    STORE_ENGINE(Family.STORE, -500, -599, "engine", "引擎"),
    STORE_PARAMETER(Family.STORE, -600, -699, "parameter", "参数"),
    STORE_OBJECT(Family.STORE, -700, -799, "engine-operation and object", "引擎操作与对象"),
    STORE_TRANSFER(Family.STORE, -800, -899, "transfer and checksum", "传输与校验和"),
    STORE_RPC(Family.STORE, -900, -999, "rpc", "远程调用"),
    STORE_AVAILABILITY(Family.STORE, -1000, -1099, "high-availability", "高可用"),
    STORE_FILE(Family.STORE, -1100, -1199, "file", "文件"),
    STORE_BUCKET(Family.STORE, -1200, -1299, "bucket", "桶"),
    STORE_OFFLOAD(Family.STORE, -1300, -1399, "offload", "下沉"),
    STORE_TASK(Family.STORE, -1400, -1499, "task and job", "任务与作业"),
    STORE_SERIALIZATION(Family.STORE, -1500, -1599, "serialization", "序列化"),
    STORE_DFS(Family.STORE, -1600, -1699, "dfs", "分布式文件系统"),
    STORE_TENANT(Family.STORE, -1700, -1799, "tenant-quota", "租户配额"),
    LLM_SUCCESS(Family.LLM_DATADIST, 0, 0, "success", "成功"),
    LLM_RECOVERABLE(Family.LLM_DATADIST, 0, 0, "recoverable", "可恢复"),
    LLM_NOT_RECOVERABLE(Family.LLM_DATADIST, 0, 0, "not recoverable", "不可恢复"),
    LLM_UNDOCUMENTED(
            Family.LLM_DATADIST, 0x5010BFFF, 0x5010B000, "undocumented status", "未写入文档的状态"),
    TRANSFER_OUTSIDE(Family.TRANSFER_ENGINE, 0, 0, "outside every range", "不属于任何区间"),
    STORE_OUTSIDE(Family.STORE, 0, 0, "outside every range", "不属于任何区间"),
    LLM_OUTSIDE(Family.LLM_DATADIST, 0, 0, "outside every range", "不属于任何区间");

    private final Family family;
    private final int first;
    private final int last;
    private final String en;
    private final String zh;

    /**
     * {@code first} is the greater number: ranges are written as the contract counts, downwards.
     */
    Category(Family family, int first, int last, String en, String zh) {
        this.family = family;
        this.first = first;
        this.last = last;
        this.en = en;
        this.zh = zh;
    }

    public Family family() {
        return family;
    }

    /** For people; the English label is also the word in JSON. */
    public String label(Language language) {
        return language.choose(en, zh);
    }

    /** Whether the number lies in no range of its family, so that it says nothing at all. */
    public boolean isOutside() {
        return this == TRANSFER_OUTSIDE || this == STORE_OUTSIDE || this == LLM_OUTSIDE;
    }

    /** {@code -700..-799}, or empty where the category is not a range of several numbers. */
    public String range() {
        if (first == last) {
            return "";
        }
        boolean upwards = family == Family.LLM_DATADIST;
        return family.format(upwards ? last : first) + ".." + family.format(upwards ? first : last);
    }

    /** The category of a code, known or not. */
    public static Category of(Code code) {
        return switch (code.family()) {
            case TRANSFER_ENGINE -> byRange(code, TRANSFER_OUTSIDE);
            case STORE -> byRange(code, STORE_OUTSIDE);
            case LLM_DATADIST -> ofLlm(code);
        };
    }

    private static Category ofLlm(Code code) {
        if (code instanceof LlmStatus status) {
            return switch (status) {
                case LLM_SUCCESS -> Category.LLM_SUCCESS;
                case LLM_FAILED, LLM_TIMEOUT -> LLM_NOT_RECOVERABLE;
                case LLM_WAIT_PROC_TIMEOUT,
                        LLM_KV_CACHE_NOT_EXIST,
                        LLM_PARAM_INVALID,
                        LLM_NOT_YET_LINK,
                        LLM_ALREADY_LINK,
                        LLM_LINK_FAILED,
                        LLM_UNLINK_FAILED,
                        LLM_NOTIFY_PROMPT_UNLINK_FAILED,
                        LLM_CLUSTER_NUM_EXCEED_LIMIT,
                        LLM_PROCESSING_LINK,
                        LLM_DEVICE_OUT_OF_MEMORY,
                        LLM_EXIST_LINK,
                        LLM_FEATURE_NOT_ENABLED,
                        LLM_LINK_BUSY,
                        LLM_OUT_OF_MEMORY ->
                        LLM_RECOVERABLE;
            };
        }
        return LLM_UNDOCUMENTED.contains(code.number()) ? LLM_UNDOCUMENTED : LLM_OUTSIDE;
    }

    private static Category byRange(Code code, Category outside) {
        for (Category category : values()) {
            if (category.family == code.family() && category.contains(code.number())) {
                return category;
            }
        }
        return outside;
    }

    private boolean contains(int number) {
        return number <= first && number >= last;
    }
}
