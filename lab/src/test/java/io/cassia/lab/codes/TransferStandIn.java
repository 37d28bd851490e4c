package io.cassia.lab.codes;

import io.cassia.testkit.EngineStandIn;
import java.io.IOException;

/** An engine that is none, and answers each handshake with one text. Guarded. */
final class TransferStandIn implements AutoCloseable {
    private final EngineStandIn engine = new EngineStandIn();
    private volatile String answer;

    /**
     * @param script what happens on a data connection
     */
    TransferStandIn(EngineStandIn.Script script) throws IOException {
        answer = descriptor("tcp");
        engine.start(() -> answer, script);
    }

    /** Takes requests and never answers. */
    static TransferStandIn mute() throws IOException {
        return new TransferStandIn(
                socket -> {
                    while (socket.getInputStream().read() >= 0) {
                        // Nothing comes of it.
                    }
                });
    }

    String name() {
        return engine.name();
    }

    /** What the handshake port answers from now on. */
    void answer(String text) {
        answer = text;
    }

    String descriptor(String protocol) {
        return descriptor(protocol, engine.dataPort());
    }

    /** One that sends its readers to another port. */
    String descriptor(String protocol, int dataPort) {
        return engine.descriptor(protocol, dataPort, 2);
    }

    @Override
    public void close() throws IOException {
        engine.close();
    }
}
