package io.cassia.transfer.topology;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The few functions of libibverbs that find and open RDMA devices. Immutable; the library is loaded
 * once and never unloaded.
 */
public final class Verbs {
    private static final List<String> LIBRARIES = List.of("libibverbs.so.1", "libibverbs.so");
    private static final int MAX_DEVICES = 1024;
    private static final int MAX_NAME_BYTES = 64;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final VarHandle ERRNO_VALUE =
            Linker.Option.captureStateLayout()
                    .varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final FunctionDescriptor POINTER_OF_POINTER =
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS);

    private final MethodHandle list;
    private final MethodHandle free;
    private final MethodHandle name;
    private final MethodHandle open;
    private final MethodHandle close;

    private Verbs(SymbolLookup library) {
        this.list = handle(library, "ibv_get_device_list", POINTER_OF_POINTER, ERRNO);
        this.free =
                handle(
                        library,
                        "ibv_free_device_list",
                        FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
        this.name = handle(library, "ibv_get_device_name", POINTER_OF_POINTER);
        this.open = handle(library, "ibv_open_device", POINTER_OF_POINTER, ERRNO);
        this.close =
                handle(
                        library,
                        "ibv_close_device",
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
    }

    private static MethodHandle handle(
            SymbolLookup library,
            String function,
            FunctionDescriptor signature,
            Linker.Option... options) {
        return LINKER.downcallHandle(library.findOrThrow(function), signature, options);
    }

    /** The library of this host; nothing when it is not installed. */
    public static Optional<Verbs> load() {
        for (String library : LIBRARIES) {
            try {
                return Optional.of(new Verbs(SymbolLookup.libraryLookup(library, Arena.global())));
            } catch (IllegalArgumentException e) {
                // Not under this name.
            }
        }
        return Optional.empty();
    }

    /** A library that is loaded already. */
    static Verbs of(SymbolLookup library) {
        return new Verbs(library);
    }

    /**
     * Names of the devices in the library's order. ERR_CONTEXT when it cannot list them: the kernel
     * has no RDMA support.
     */
    public Outcome<List<String>> deviceNames() {
        try (Arena arena = Arena.ofConfined();
                DeviceList devices = list(arena)) {
            return devices.failure().isPresent()
                    ? Outcome.failed(TransferCode.ERR_CONTEXT, devices.failure().get())
                    : Outcome.ok(devices.names());
        }
    }

    /**
     * Opens a device. ERR_DEVICE_NOT_FOUND when there is none of this name, ERR_CONTEXT when the
     * library cannot open it.
     */
    public Outcome<Context> open(String device) {
        try (Arena arena = Arena.ofConfined();
                DeviceList devices = list(arena)) {
            if (devices.failure().isPresent()) {
                return Outcome.failed(TransferCode.ERR_CONTEXT, devices.failure().get());
            }
            int index = devices.names().indexOf(device);
            if (index < 0) {
                return Outcome.failed(
                        TransferCode.ERR_DEVICE_NOT_FOUND,
                        "RDMA device %s: libibverbs knows %s".formatted(device, devices.names()));
            }
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            MemorySegment context = openDevice(state, devices.at(index));
            if (context.equals(MemorySegment.NULL)) {
                return Outcome.failed(
                        TransferCode.ERR_CONTEXT,
                        "RDMA device %s cannot be opened: %s; is its /dev/infiniband node there and"
                                        .formatted(device, Errno.text(errno(state)))
                                + " accessible?");
            }
            return Outcome.ok(new Context(device, context));
        }
    }

    private DeviceList list(Arena arena) {
        MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
        MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
        MemorySegment pointers;
        try {
            pointers = (MemorySegment) list.invokeExact(state, count);
        } catch (Throwable e) {
            throw uncallable(e);
        }
        if (pointers.equals(MemorySegment.NULL)) {
            return new DeviceList(
                    pointers,
                    List.of(),
                    Optional.of("RDMA devices cannot be listed: " + Errno.text(errno(state))));
        }
        int devices = Math.clamp(count.get(ValueLayout.JAVA_INT, 0), 0, MAX_DEVICES);
        MemorySegment sized = pointers.reinterpret(devices * ValueLayout.ADDRESS.byteSize());
        List<String> names = new ArrayList<>();
        for (int i = 0; i < devices; i++) {
            names.add(name(sized.getAtIndex(ValueLayout.ADDRESS, i)));
        }
        return new DeviceList(sized, List.copyOf(names), Optional.empty());
    }

    private String name(MemorySegment device) {
        try {
            MemorySegment text = (MemorySegment) name.invokeExact(device);
            return text.equals(MemorySegment.NULL)
                    ? ""
                    : text.reinterpret(MAX_NAME_BYTES).getString(0);
        } catch (Throwable e) {
            throw uncallable(e);
        }
    }

    private MemorySegment openDevice(MemorySegment state, MemorySegment device) {
        try {
            return (MemorySegment) open.invokeExact(state, device);
        } catch (Throwable e) {
            throw uncallable(e);
        }
    }

    private static int errno(MemorySegment state) {
        return (int) ERRNO_VALUE.get(state, 0L);
    }

    private static IllegalStateException uncallable(Throwable cause) {
        return new IllegalStateException("libibverbs cannot be called", cause);
    }

    /** The library's list, given back when closed: its devices are valid until then. */
    private final class DeviceList implements AutoCloseable {
        private final MemorySegment pointers;
        private final List<String> names;
        private final Optional<String> failure;

        DeviceList(MemorySegment pointers, List<String> names, Optional<String> failure) {
            this.pointers = pointers;
            this.names = names;
            this.failure = failure;
        }

        List<String> names() {
            return names;
        }

        Optional<String> failure() {
            return failure;
        }

        MemorySegment at(int index) {
            return pointers.getAtIndex(ValueLayout.ADDRESS, index);
        }

        @Override
        public void close() {
            if (pointers.equals(MemorySegment.NULL)) {
                return;
            }
            try {
                free.invokeExact(pointers);
            } catch (Throwable e) {
                throw uncallable(e);
            }
        }
    }

    /** An open device. Guarded: closed once, whoever does it. */
    public final class Context implements AutoCloseable {
        private final String device;
        private final MemorySegment context;
        private final AtomicBoolean closed = new AtomicBoolean();

        private Context(String device, MemorySegment context) {
            this.device = device;
            this.context = context;
        }

        /** Name of the device. */
        public String device() {
            return device;
        }

        @Override
        public void close() {
            if (!closed.compareAndSet(false, true)) {
                return;
            }
            try {
                int result = (int) close.invokeExact(context);
                if (result != 0) {
                    System.getLogger(Verbs.class.getName())
                            .log(
                                    System.Logger.Level.WARNING,
                                    "rdma-device-not-closed device={0} result={1}",
                                    device,
                                    result);
                }
            } catch (Throwable e) {
                throw uncallable(e);
            }
        }
    }
}
