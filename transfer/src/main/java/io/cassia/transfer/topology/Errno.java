package io.cassia.transfer.topology;

/** Error numbers of Linux system calls, for people. Immutable. */
final class Errno {
    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int ENOMEM = 12;
    static final int EFAULT = 14;
    static final int EINVAL = 22;
    static final int ENOSYS = 38;

    private Errno() {}

    static String text(int number) {
        String meaning =
                switch (number) {
                    case EPERM -> "not permitted; in a container allow it with CAP_SYS_NICE";
                    case ENOENT -> "not there";
                    case ENOMEM -> "out of memory, or not mapped";
                    case EFAULT -> "address is not mapped";
                    case EINVAL -> "invalid, or no such node";
                    case ENOSYS -> "not supported by this kernel";
                    default -> "see errno(3)";
                };
        return "errno " + number + " (" + meaning + ")";
    }
}
