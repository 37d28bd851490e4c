package io.cassia.lab.process;

import io.cassia.base.ByteString;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Uuid;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A writer that starts a put and then hangs until it is killed. */
final class HalfPut {
    private HalfPut() {}

    public static void main(String[] args) throws Exception {
        RpcClient rpc = MooncakeReader.connect(args[0]);
        rpc.callExpected(
                        MasterMethods.PUT_START,
                        new Args.PutStart(
                                new Uuid(4711, 1),
                                ByteString.of(args[1]),
                                Long.parseLong(args[2]),
                                ReplicateConfig.DEFAULT,
                                ByteString.of("default")),
                        Duration.ofSeconds(10))
                .orThrow();
        System.out.println("started");
        new CountDownLatch(1).await();
    }

    /** Runs the writer in a process of its own and kills it between PutStart and PutEnd. */
    static void killedAfterPutStart(String master, String key, long bytes) throws Exception {
        Process writer =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                HalfPut.class.getName(),
                                master,
                                key,
                                Long.toString(bytes))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try (BufferedReader output = writer.inputReader()) {
            if (!"started".equals(output.readLine())) {
                throw new IllegalStateException("the writer ended with " + writer.waitFor());
            }
        } finally {
            writer.destroyForcibly();
            writer.waitFor(10, TimeUnit.SECONDS);
        }
    }
}
