package io.cassia.lab.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.lab.process.CassiaProcess;
import io.cassia.lab.process.Footprint;
import io.cassia.lab.process.Footprints;
import io.cassia.lab.process.Footprints.Tolerance;
import io.cassia.lab.process.ProcessCluster;
import io.cassia.store.StoreClient;
import io.cassia.testkit.Signals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A mixed load: clients and the REST service put, replace, remove, copy and read few keys in memory
 * that is much too small, while nodes and clients are killed, stopped and woken. No read may return
 * a byte that it cannot have been, and those processes that live through it all (the master, a node
 * near and one far, a client, the gateway) may not grow. While the space of puts is kept for longer
 * than anybody stands still, no object is lost to a late write either.
 */
class HistoryTest {
    private static final int NODES = 3;
    private static final int CLIENTS = 3;

    /** Nodes and clients before these are stopped at times, but live as long as the run. */
    private static final int FIRST_MORTAL_NODE = 2;

    private static final int FIRST_MORTAL_CLIENT = 1;
    private static final int START_ATTEMPTS = 6;
    private static final int REST_CLIENT = 10_000;

    /** Shorter than clients are stopped for: some wake when their space is another's. */
    private static final Duration SHORT_TERM = Duration.ofSeconds(2);

    /** Longer than anybody stands still, and what he has sent besides: no write comes too late. */
    private static final Duration LONG_TERM = Duration.ofSeconds(15);

    @TempDir Path directory;

    private final List<Path> logs = new ArrayList<>();
    private final Footprints footprints = new Footprints();
    private int started;

    /**
     * How long and how fast.
     *
     * @param term for which the master keeps the space of a put
     * @param time of the load
     * @param pace between two steps of a client
     * @param calm between two disturbances, at least
     * @param sampling between two looks at what processes hold
     */
    private record Load(
            Duration term, Duration time, Duration pace, Duration calm, Duration sampling) {}

    @Test
    void no_byte_is_wrong_and_nothing_grows_in_two_minutes() throws Exception {
        run(
                new Load(
                        SHORT_TERM,
                        Duration.ofMinutes(2),
                        Duration.ofMillis(1),
                        Duration.ofMillis(300),
                        Duration.ofSeconds(4)),
                new Tolerance(2 << 10, 4 << 10, 8 << 10, 6, 16));
    }

    @Test
    @Tag("deep")
    void no_byte_is_wrong_and_nothing_grows_in_an_hour() throws Exception {
        run(
                new Load(
                        SHORT_TERM,
                        Duration.ofSeconds(Long.getLong("seconds", 3600)),
                        Duration.ofMillis(10),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(30)),
                new Tolerance(1 << 10, 4 << 10, 8 << 10, 4, 8));
    }

    @Test
    void no_object_is_lost_to_a_write_while_nobody_stands_still_for_a_term() throws Exception {
        Outcomes outcomes =
                load(
                        new Load(
                                LONG_TERM,
                                Duration.ofSeconds(Long.getLong("seconds", 30)),
                                Duration.ofMillis(1),
                                Duration.ofMillis(300),
                                Duration.ofMinutes(1)));
        assertThat(outcomes.of(Outcomes.MISMATCH)).as(outcomes.table()).isZero();
    }

    private void run(Load load, Tolerance tolerance) throws Exception {
        Outcomes _ = load(load);
        assertThat(footprints.growth(tolerance)).as(footprints.table()).isEmpty();
    }

    private static String[] impatient(Duration term) {
        return new String[] {
            "--default-kv-lease-ttl", "400ms",
            "--put-start-discard-timeout", "1s",
            "--put-start-release-timeout", term.toMillis() + "ms",
            "--client-ttl", "3s",
            "--max-total-finished-tasks", "200"
        };
    }

    private Outcomes load(Load load) throws Exception {
        long seed = Long.getLong("seed", 20261129);
        Random random = new Random(seed);
        try (ProcessCluster cluster = ProcessCluster.startMeasured(impatient(load.term))) {
            footprints.watch("master", cluster.master().pid());
            List<CassiaProcess> nodes = new ArrayList<>();
            List<Process> clients = new ArrayList<>();
            try (CassiaProcess gateway = cluster.gateway("--timeout", "5s")) {
                for (int i = 0; i < NODES; i++) {
                    nodes.add(node(cluster, i));
                }
                for (int i = 0; i < CLIENTS; i++) {
                    clients.add(client(cluster, random, load.pace));
                }
                footprints.watch("near node", nodes.get(0).pid());
                footprints.watch("far node", nodes.get(1).pid());
                footprints.watch("client", clients.getFirst().pid());
                footprints.watch("gateway", gateway.pid());
                Path log = log(REST_CLIENT);
                String address = gateway.ready().get("addresses").get("rest").asString();
                try (RestHistory rest =
                        RestHistory.start(
                                address, REST_CLIENT, random.nextLong(), load.pace, log)) {
                    work(load, cluster, nodes, clients, random);
                    rest.finish();
                }
                for (Process client : clients) {
                    finish(client);
                }
                try (StoreClient client = cluster.client()) {
                    assertThat(client.stats().orThrow().evictedObjects()).isPositive();
                }
            } finally {
                clients.forEach(Process::destroyForcibly);
                System.out.println(footprints.table());
            }
        }
        History history = new History();
        for (Path log : logs) {
            history.add(log);
        }
        Outcomes outcomes = history.outcomes();
        System.out.println("seed " + seed + " outcomes\n" + outcomes.table());
        assertThat(history.violations()).as("seed %d", seed).isEmpty();
        assertThat(history.successfulReads()).isGreaterThan(100);
        assertThat(outcomes.unexplained()).as(outcomes.table()).isEmpty();
        return outcomes;
    }

    private void work(
            Load load,
            ProcessCluster cluster,
            List<CassiaProcess> nodes,
            List<Process> clients,
            Random random)
            throws Exception {
        long now = System.nanoTime();
        long end = now + load.time.toNanos();
        long look = now;
        while (now - end < 0) {
            if (now - look >= 0) {
                footprints.sample();
                look += load.sampling.toNanos();
            }
            letRun(load.calm.toMillis() + random.nextInt(700));
            disturb(cluster, nodes, clients, random, load.pace);
            now = System.nanoTime();
        }
    }

    /**
     * Nothing is awaited here: the seed decides how long the load is left alone, and how long
     * somebody is stopped. What is checked holds whenever that happens.
     */
    private static void letRun(long millis) throws InterruptedException {
        Thread.sleep(millis);
    }

    /** One is on this host, one is reached as if it were elsewhere, one comes back as either. */
    private CassiaProcess node(ProcessCluster cluster, int number) throws Exception {
        return number % 2 == 0 ? cluster.node("2MiB") : cluster.remoteNode("2MiB");
    }

    private Path log(int id) {
        Path log = directory.resolve("client-" + id + ".log");
        logs.add(log);
        return log;
    }

    /** On a machine that is busy with something else it may take more than one attempt. */
    private Process client(ProcessCluster cluster, Random random, Duration pace)
            throws IOException {
        String why = "";
        for (int attempt = 0; attempt < START_ATTEMPTS; attempt++) {
            int id = ++started;
            Path errors = directory.resolve("client-" + id + ".err");
            Process process =
                    new ProcessBuilder(command(cluster, id, random.nextLong(), pace))
                            .redirectError(errors.toFile())
                            .start();
            if ("started".equals(process.inputReader().readLine())) {
                return process;
            }
            why = Files.readString(errors);
        }
        throw new IllegalStateException(
                why + Footprint.ask(cluster.master().pid(), "Thread.print"));
    }

    private List<String> command(ProcessCluster cluster, int id, long seed, Duration pace) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(Footprint.JAVA_OPTIONS.split(" ", -1)));
        command.addAll(
                List.of(
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HistoryClient.class.getName(),
                        cluster.address(),
                        Integer.toString(id),
                        Long.toString(seed),
                        log(id).toString(),
                        Long.toString(pace.toMillis())));
        return command;
    }

    private static void finish(Process client) throws Exception {
        client.getOutputStream().write('\n');
        client.getOutputStream().flush();
        assertThat(client.waitFor(60, TimeUnit.SECONDS)).as("client ends").isTrue();
    }

    private void disturb(
            ProcessCluster cluster,
            List<CassiaProcess> nodes,
            List<Process> clients,
            Random random,
            Duration pace)
            throws Exception {
        int node = random.nextInt(nodes.size());
        int client = random.nextInt(clients.size());
        switch (random.nextInt(6)) {
            case 0 -> {
                int mortal = Math.max(node, FIRST_MORTAL_NODE);
                nodes.get(mortal).kill();
                nodes.set(mortal, node(cluster, random.nextInt(2)));
            }
            case 1 -> {
                int mortal = Math.max(client, FIRST_MORTAL_CLIENT);
                clients.get(mortal).destroyForcibly().waitFor();
                clients.set(mortal, client(cluster, random, pace));
            }
            case 2, 3 -> {
                nodes.get(node).stop();
                letRun(random.nextInt(1500));
                nodes.get(node).resume();
            }
            default -> {
                // Perhaps longer than a short term: it wakes when its puts are given up.
                Signals.stop(clients.get(client));
                letRun(random.nextInt(4000));
                Signals.resume(clients.get(client));
            }
        }
    }
}
