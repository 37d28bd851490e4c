package io.cassia.datadist.bench;

import io.cassia.base.Clock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;

/** Prints the benchmark and the demonstration. Confined to its main thread. */
public final class BenchMain {
    private BenchMain() {}

    /** First argument: {@code copies} for memory copies instead of sockets. */
    public static void main(String[] args) {
        boolean sockets = args.length == 0 || !args[0].equals("copies");
        Clock clock = Clock.system();
        DataDistBench.Plan standard = DataDistBench.Plan.STANDARD;
        DataDistBench.Plan plan =
                new DataDistBench.Plan(
                        standard.totalBytes(),
                        standard.blockBytes(),
                        0,
                        standard.rounds(),
                        sockets);
        for (int round = 0; round < 2; round++) {
            for (DataDistBench.Plan each : List.of(plan, plan.singleBlocks(2000))) {
                System.out.println(
                        "operation pattern block blocks requests us/call GB/s engine-GB/s");
                for (BenchRow row :
                        DataDistBench.run(each, clock, new SimpleMeterRegistry()).orThrow()) {
                    System.out.printf(
                            "%s %-9s %8d %6d %6d %10.1f %6.2f %6.2f%n",
                            row.operation(),
                            row.scattered() ? "scattered" : "adjacent",
                            row.blockBytes(),
                            row.blocks(),
                            row.requests(),
                            row.microsPerCall(),
                            row.gigabytesPerSecond(),
                            row.engineGigabytesPerSecond());
                }
            }
            for (DemoRow row :
                    DataDistDemo.run(
                                    KvGeometry.LLAMA_3_8B,
                                    2048,
                                    sockets,
                                    clock,
                                    new SimpleMeterRegistry())
                            .orThrow()) {
                System.out.printf(
                        "%-26s %d tokens %d bytes %d ranges %.2f GB/s verified=%s%n",
                        row.step(),
                        row.tokens(),
                        row.bytes(),
                        row.requests(),
                        row.gigabytesPerSecond(),
                        row.verified());
            }
        }
    }
}
