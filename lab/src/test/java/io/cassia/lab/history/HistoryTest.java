package io.cassia.lab.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.lab.process.CassiaProcess;
import io.cassia.lab.process.ProcessCluster;
import io.cassia.store.StoreClient;
import io.cassia.testkit.Signals;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients put, replace, remove and read few keys in memory that is much too small, while nodes and
 * clients are killed, stopped and woken. No read may return a byte that it cannot have been.
 */
class HistoryTest {
    private static final int CLIENTS = 3;
    private static final int NODES = 3;
    private static final String[] IMPATIENT = {
        "--default-kv-lease-ttl", "400ms",
        "--put-start-discard-timeout", "1s",
        "--put-start-release-timeout", "2s",
        "--client-ttl", "3s"
    };

    @TempDir Path directory;

    private final List<Path> logs = new ArrayList<>();
    private int started;

    @Test
    void no_byte_is_wrong_while_processes_are_killed_and_stopped() throws Exception {
        run(Duration.ofSeconds(30), Long.getLong("seed", 20261129));
    }

    @Test
    @Tag("deep")
    void no_byte_is_wrong_in_an_hour_and_nothing_is_left_over() throws Exception {
        run(Duration.ofHours(1), Long.getLong("seed", 20261129));
    }

    private void run(Duration time, long seed) throws Exception {
        Random random = new Random(seed);
        History history = new History();
        try (ProcessCluster cluster = ProcessCluster.start(IMPATIENT)) {
            List<CassiaProcess> nodes = new ArrayList<>();
            for (int i = 0; i < NODES; i++) {
                nodes.add(node(cluster, i));
            }
            List<Process> clients = new ArrayList<>();
            try {
                for (int i = 0; i < CLIENTS; i++) {
                    clients.add(client(cluster, random));
                }
                Footprint before = Footprint.of(cluster.master().pid());
                long end = System.nanoTime() + time.toNanos();
                while (System.nanoTime() - end < 0) {
                    disturb(cluster, nodes, clients, random);
                }
                for (Process client : clients) {
                    finish(client);
                }
                Footprint after = Footprint.of(cluster.master().pid());
                assertThat(after.threads()).isLessThanOrEqualTo(before.threads() + 16);
                assertThat(after.descriptors()).isLessThanOrEqualTo(before.descriptors() + 16);
                try (StoreClient client = cluster.client()) {
                    assertThat(client.stats().orThrow().evictedObjects()).isPositive();
                }
            } finally {
                clients.forEach(Process::destroyForcibly);
            }
        }
        for (Path log : logs) {
            history.add(log);
        }
        System.out.println("seed " + seed + " outcomes " + history.outcomes());
        assertThat(history.violations()).as("seed %d", seed).isEmpty();
        assertThat(history.successfulReads()).isGreaterThan(100);
    }

    /** Every other one is reached as if it were on another host. */
    private static CassiaProcess node(ProcessCluster cluster, int number) throws Exception {
        return number % 2 == 0 ? cluster.node("2MiB") : cluster.remoteNode("2MiB");
    }

    private Process client(ProcessCluster cluster, Random random) throws IOException {
        int id = ++started;
        Path log = directory.resolve("client-" + id + ".log");
        logs.add(log);
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                HistoryClient.class.getName(),
                                cluster.address(),
                                Integer.toString(id),
                                Long.toString(random.nextLong()),
                                log.toString())
                        .redirectError(directory.resolve("client-" + id + ".err").toFile())
                        .start();
        BufferedReader output = process.inputReader();
        if (!"started".equals(output.readLine())) {
            throw new IllegalStateException(
                    Files.readString(directory.resolve("client-" + id + ".err")));
        }
        return process;
    }

    private static void finish(Process client) throws Exception {
        client.getOutputStream().write('\n');
        client.getOutputStream().flush();
        assertThat(client.waitFor(60, TimeUnit.SECONDS)).as("client ends").isTrue();
    }

    private void disturb(
            ProcessCluster cluster, List<CassiaProcess> nodes, List<Process> clients, Random random)
            throws Exception {
        // Nothing is awaited: the seed decides how long the load is left alone, and how long
        // somebody is stopped. What is checked holds whenever that happens.
        Thread.sleep(300 + random.nextInt(700));
        int node = random.nextInt(nodes.size());
        int client = random.nextInt(clients.size());
        switch (random.nextInt(6)) {
            case 0 -> {
                nodes.get(node).kill();
                nodes.set(node, node(cluster, node));
            }
            case 1 -> {
                clients.get(client).destroyForcibly().waitFor();
                clients.set(client, client(cluster, random));
            }
            case 2, 3 -> {
                nodes.get(node).stop();
                Thread.sleep(random.nextInt(1500));
                nodes.get(node).resume();
            }
            default -> {
                // Longer than discard and release together: it wakes when its puts are given up.
                Signals.stop(clients.get(client));
                Thread.sleep(random.nextInt(4000));
                Signals.resume(clients.get(client));
            }
        }
    }

    /** What a process holds. */
    private record Footprint(long threads, long descriptors) {
        static Footprint of(long pid) throws IOException {
            return new Footprint(
                    count(Path.of("/proc", Long.toString(pid), "task")),
                    count(Path.of("/proc", Long.toString(pid), "fd")));
        }

        private static long count(Path directory) throws IOException {
            try (Stream<Path> entries = Files.list(directory)) {
                return entries.count();
            }
        }
    }
}
