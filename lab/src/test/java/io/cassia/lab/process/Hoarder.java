package io.cassia.lab.process;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A process that keeps what it takes: for each letter that it reads, some more of one kind. */
final class Hoarder {
    private static final int BYTES = 1 << 20;

    private Hoarder() {}

    public static void main(String[] args) throws Exception {
        List<Object> kept = new ArrayList<>();
        CountDownLatch never = new CountDownLatch(1);
        System.out.println("ready");
        for (int letter = System.in.read(); letter >= 0; letter = System.in.read()) {
            take((char) letter, kept, never);
            System.out.println("took");
        }
        System.out.println(kept.size());
    }

    private static void take(char kind, List<Object> kept, CountDownLatch never)
            throws IOException {
        switch (kind) {
            case 'h' -> kept.add(new byte[BYTES]);
            case 'n' -> kept.add(Arena.ofAuto().allocate(BYTES).fill((byte) 1));
            case 'd' -> kept.add(FileChannel.open(Path.of("/dev/null")));
            case 't' -> kept.add(Thread.ofPlatform().daemon().start(() -> await(never)));
            default -> {}
        }
    }

    private static void await(CountDownLatch never) {
        try {
            never.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
