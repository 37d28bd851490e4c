package io.cassia.transfer.topology;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A libibverbs whose functions are written here and called as native code, so that the binding is
 * exercised as with the real one. Confined to a test's thread.
 */
final class FakeVerbs implements AutoCloseable {
    final List<String> opened = new ArrayList<>();
    final List<String> refused = new ArrayList<>();
    int openLists;
    int openContexts;
    boolean cannotList;

    private final Arena arena = Arena.ofConfined();
    private final List<String> names;
    private final MemorySegment devices;
    private final MemorySegment texts;
    private static final int NAME_BYTES = 64;

    FakeVerbs(String... names) {
        this.names = List.of(names);
        this.texts = arena.allocate((long) NAME_BYTES * (names.length + 1));
        this.devices = arena.allocate(ValueLayout.ADDRESS, names.length + 1);
        for (int i = 0; i < names.length; i++) {
            texts.setString((long) i * NAME_BYTES, names[i]);
            // A device is known by where its name lies.
            devices.setAtIndex(ValueLayout.ADDRESS, i, texts.asSlice((long) i * NAME_BYTES));
        }
    }

    Verbs library() {
        return Verbs.of(this::find);
    }

    private Optional<MemorySegment> find(String symbol) {
        MethodType pointer = MethodType.methodType(MemorySegment.class, MemorySegment.class);
        FunctionDescriptor pointerOf =
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS);
        return switch (symbol) {
            case "ibv_get_device_list" -> stub("list", pointer, pointerOf);
            case "ibv_get_device_name" -> stub("name", pointer, pointerOf);
            case "ibv_open_device" -> stub("open", pointer, pointerOf);
            case "ibv_free_device_list" ->
                    stub(
                            "free",
                            MethodType.methodType(void.class, MemorySegment.class),
                            FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
            case "ibv_close_device" ->
                    stub(
                            "closeDevice",
                            MethodType.methodType(int.class, MemorySegment.class),
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
            default -> Optional.empty();
        };
    }

    private Optional<MemorySegment> stub(
            String method, MethodType type, FunctionDescriptor signature) {
        try {
            MethodHandle handle = MethodHandles.lookup().bind(this, method, type);
            return Optional.of(Linker.nativeLinker().upcallStub(handle, signature, arena));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings("unused") // bound by name
    private MemorySegment list(MemorySegment count) {
        if (cannotList) {
            return MemorySegment.NULL;
        }
        openLists++;
        count.reinterpret(4).set(ValueLayout.JAVA_INT, 0, names.size());
        return devices;
    }

    @SuppressWarnings("unused") // bound by name
    private MemorySegment name(MemorySegment device) {
        return device;
    }

    @SuppressWarnings("unused") // bound by name
    private void free(MemorySegment list) {
        openLists--;
    }

    @SuppressWarnings("unused") // bound by name
    private MemorySegment open(MemorySegment device) {
        String name = device.reinterpret(NAME_BYTES).getString(0);
        if (refused.contains(name)) {
            return MemorySegment.NULL;
        }
        opened.add(name);
        openContexts++;
        return device;
    }

    @SuppressWarnings("unused") // bound by name
    private int closeDevice(MemorySegment context) {
        openContexts--;
        return 0;
    }

    @Override
    public void close() {
        arena.close();
    }
}
