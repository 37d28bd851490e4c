package io.cassia.transfer.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Locale;
import java.util.Optional;

/**
 * Linux's calls about processes and copies between their memory, made directly. Immutable. Results
 * below 0 are negative error numbers.
 */
public final class ProcessCalls {
    public static final int EPERM = 1;
    public static final int ESRCH = 3;
    public static final int EINTR = 4;
    public static final int ENOMEM = 12;
    public static final int EFAULT = 14;
    public static final int EINVAL = 22;

    /** Pieces of one copy at most (IOV_MAX). */
    public static final int MAX_PIECES = 1024;

    /** Arenas whose memory one copy may touch at this end. */
    public static final int MAX_ARENAS = 4;

    private static final long OPEN_PROCESS = 434;
    private static final short READABLE = 1;
    private static final VarHandle ERRNO =
            Linker.Option.captureStateLayout()
                    .varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private record Numbers(long read, long write) {}

    private final Numbers numbers;
    private final MethodHandle openProcess;
    private final MethodHandle poll;
    private final MethodHandle close;
    private final MethodHandle copy;

    private ProcessCalls(Numbers numbers) {
        this.numbers = numbers;
        Linker linker = Linker.nativeLinker();
        ValueLayout word = ValueLayout.JAVA_LONG;
        MemorySegment syscall = linker.defaultLookup().findOrThrow("syscall");
        Linker.Option errno = Linker.Option.captureCallState("errno");
        Linker.Option variadic = Linker.Option.firstVariadicArg(1);
        openProcess =
                linker.downcallHandle(
                        syscall, FunctionDescriptor.of(word, word, word, word), variadic, errno);
        poll =
                linker.downcallHandle(
                        linker.defaultLookup().findOrThrow("poll"),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT,
                                ValueLayout.ADDRESS,
                                word,
                                ValueLayout.JAVA_INT));
        close =
                linker.downcallHandle(
                        linker.defaultLookup().findOrThrow("close"),
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        ValueLayout pointer = ValueLayout.ADDRESS;
        copy =
                linker.downcallHandle(
                        syscall,
                        FunctionDescriptor.of(
                                word, word, word, pointer, word, pointer, word, word, pointer,
                                pointer, pointer, pointer),
                        variadic,
                        errno);
    }

    /** The calls; empty where they are not known. */
    public static Optional<ProcessCalls> find() {
        if (!System.getProperty("os.name").toLowerCase(Locale.ROOT).equals("linux")) {
            return Optional.empty();
        }
        return switch (System.getProperty("os.arch")) {
            case "amd64" -> Optional.of(new ProcessCalls(new Numbers(310, 311)));
            case "aarch64" -> Optional.of(new ProcessCalls(new Numbers(270, 271)));
            default -> Optional.empty();
        };
    }

    /** A descriptor that stands for the process that has this number now. */
    public int openProcess(long pid) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            long result = (long) openProcess.invokeExact(state, OPEN_PROCESS, pid, 0L);
            return (int) (result < 0 ? -errno(state) : result);
        } catch (Throwable t) {
            throw cannotCall(t);
        }
    }

    /** Whether the process of a descriptor has ended, with all its threads. */
    public boolean hasEnded(int process) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment question = arena.allocate(Long.BYTES, Long.BYTES);
            question.set(ValueLayout.JAVA_INT, 0, process);
            question.set(ValueLayout.JAVA_SHORT, Integer.BYTES, READABLE);
            return (int) poll.invokeExact(question, 1L, 0) > 0;
        } catch (Throwable t) {
            throw cannotCall(t);
        }
    }

    public void close(int process) {
        try {
            int result = (int) close.invokeExact(process);
            if (result < 0) {
                throw new IllegalStateException("descriptor " + process + " was not open");
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable t) {
            throw cannotCall(t);
        }
    }

    /**
     * Copies between this process and another one; the bytes that were copied, which may be fewer
     * than asked for, or a negative error number.
     *
     * @param state {@link Linker.Option#captureStateLayout} of scratch memory
     * @param local pieces here, 16 bytes each: address, length
     * @param remote pieces there
     * @param alive memory of each arena that the pieces here belong to, {@link #MAX_ARENAS} of
     *     them. The kernel does not read these arguments; but as long as the call runs the JDK does
     *     not let anybody close an arena that an argument belongs to
     */
    public long copy(
            boolean write,
            long pid,
            MemorySegment state,
            MemorySegment local,
            MemorySegment remote,
            long pieces,
            MemorySegment[] alive) {
        try {
            long result =
                    (long)
                            copy.invokeExact(
                                    state,
                                    write ? numbers.write() : numbers.read(),
                                    pid,
                                    local,
                                    pieces,
                                    remote,
                                    pieces,
                                    0L,
                                    alive[0],
                                    alive[1],
                                    alive[2],
                                    alive[3]);
            return result < 0 ? -errno(state) : result;
        } catch (RuntimeException e) {
            // An arena was closed before the call.
            throw e;
        } catch (Throwable t) {
            throw cannotCall(t);
        }
    }

    private static int errno(MemorySegment state) {
        return (int) ERRNO.get(state, 0L);
    }

    private static IllegalStateException cannotCall(Throwable t) {
        return new IllegalStateException("system calls cannot be made", t);
    }

    /** An error number for people. */
    public static String text(long number) {
        return "errno "
                + number
                + switch ((int) number) {
                    case EPERM -> " (the kernel forbids it; see ptrace_scope)";
                    case ESRCH -> " (no such process)";
                    case ENOMEM -> " (no memory)";
                    case EFAULT -> " (not mapped)";
                    case EINVAL -> " (invalid)";
                    default -> "";
                };
    }
}
