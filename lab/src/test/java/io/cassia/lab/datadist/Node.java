package io.cassia.lab.datadist;

import io.cassia.datadist.DataDistOptions;
import io.cassia.datadist.LlmDataDist;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.PoolConfig;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A cluster of the storm, in this process or in one of its own, that does what lines say. Guarded:
 * one line at a time.
 */
abstract class Node implements AutoCloseable {
    static final long POOL_BYTES = 48L << 20;

    final long id;
    final LlmRole home;
    final int port;
    private final AtomicInteger life = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();

    private Node(long id, LlmRole home, int port) {
        this.id = id;
        this.home = home;
        this.port = port;
    }

    static Local here(long id, LlmRole home) throws IOException {
        return new Local(id, home, ClusterProcess.freePort());
    }

    static Remote elsewhere(long id, LlmRole home) throws IOException {
        return new Remote(id, home, ClusterProcess.freePort());
    }

    /** Answers a line; a process that has died says GONE. */
    String ask(String line) {
        lock.lock();
        try {
            return answer(line);
        } finally {
            lock.unlock();
        }
    }

    abstract String answer(String line);

    @Override
    public abstract void close();

    /** Grows when it is started anew: its caches are empty then. */
    int life() {
        return life.get();
    }

    /** In this process. */
    static final class Local extends Node {
        final LlmDataDist cluster;
        private final ClusterPeer peer;

        private Local(long id, LlmRole home, int port) {
            super(id, home, port);
            cluster = new LlmDataDist(id, home);
            PoolConfig pool = PoolConfig.ofBytes(POOL_BYTES).orThrow();
            DataDistOptions.Builder options =
                    DataDistOptions.builder()
                            .dataHost("127.0.0.1")
                            .switchRole(true)
                            .heartbeat(Duration.ofMillis(200), 3)
                            .devicePool(pool);
            if (home == LlmRole.PROMPT) {
                options.listen("127.0.0.1", port);
            }
            cluster.initialize(options.build()).orThrow();
            peer = new ClusterPeer(cluster);
        }

        /** Its callers go on while others wait: the cluster itself is what is tested. */
        @Override
        String ask(String line) {
            return answer(line);
        }

        @Override
        String answer(String line) {
            return peer.answer(List.of(line.split(" ", -1)));
        }

        @Override
        public void close() {
            cluster.close();
        }
    }

    /** In a process of its own. */
    static final class Remote extends Node {
        private volatile @Nullable ClusterProcess process;

        private Remote(long id, LlmRole home, int port) throws IOException {
            super(id, home, port);
            process = start();
        }

        private ClusterProcess start() throws IOException {
            String[] options = {
                "llm.EnableSwitchRole=1",
                "llm.HeartbeatMillis=200",
                "ge.flowGraphMemMaxSize=" + POOL_BYTES
            };
            return home == LlmRole.PROMPT
                    ? ClusterProcess.prompt(id, port, options)
                    : ClusterProcess.decoder(id, options);
        }

        ClusterProcess process() {
            ClusterProcess now = process;
            if (now == null) {
                throw new IllegalStateException("cluster " + id + " is down");
            }
            return now;
        }

        @Override
        String answer(String line) {
            return process().ask(line);
        }

        /** kill -9, whatever it does, and a new life. */
        void killAndRestart(LifeWork work) throws IOException {
            process().kill();
            super.lock.lock();
            try {
                super.life.incrementAndGet();
                process = start();
                work.begin(this);
            } finally {
                super.lock.unlock();
            }
        }

        @Override
        public void close() {
            process().close();
        }
    }

    /** What a new life begins with. */
    interface LifeWork {
        void begin(Node node);
    }
}
