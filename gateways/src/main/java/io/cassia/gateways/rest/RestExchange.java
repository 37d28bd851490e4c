package io.cassia.gateways.rest;

import com.sun.net.httpserver.HttpExchange;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * One request and its answer. Confined to its thread. An {@link IOException} means that the client
 * has gone or was cut off: there is nobody left to tell.
 */
final class RestExchange {
    private static final System.Logger LOG = System.getLogger(RestExchange.class.getName());

    static final String BINARY = "application/octet-stream";
    static final String JSON = "application/json";
    static final String TEXT = "text/plain; charset=utf-8";

    private static final int CHUNK = 64 << 10;

    /** What is read of a body that nobody wants, so that the client can still read its answer. */
    private static final long DRAINED = 4L << 20;

    private final HttpExchange http;
    private final SlowClients.Call call;
    private final RestMetrics metrics;
    private int status;
    private String operation = "unknown";

    RestExchange(HttpExchange http, SlowClients.Call call, RestMetrics metrics) {
        this.http = http;
        this.call = call;
        this.metrics = metrics;
    }

    String method() {
        return http.getRequestMethod();
    }

    boolean isHead() {
        return method().equals("HEAD");
    }

    String rawPath() {
        String path = http.getRequestURI().getRawPath();
        return path == null ? "" : path;
    }

    /** A parameter of the query, as it stands; names and values of this service need no escapes. */
    Optional<String> parameter(String name) {
        String query = http.getRequestURI().getRawQuery();
        if (query == null) {
            return Optional.empty();
        }
        for (String pair : query.split("&", -1)) {
            if (pair.equals(name)) {
                return Optional.of("true");
            }
            if (pair.startsWith(name + "=")) {
                return Optional.of(pair.substring(name.length() + 1));
            }
        }
        return Optional.empty();
    }

    boolean flag(String name) {
        return parameter(name).filter(text -> text.equals("true") || text.equals("1")).isPresent();
    }

    Optional<String> header(String name) {
        return Optional.ofNullable(http.getRequestHeaders().getFirst(name));
    }

    /** Length of the request's body; empty when it comes in chunks. */
    Optional<Long> contentLength() {
        if (header("Transfer-Encoding").isPresent()) {
            return Optional.empty();
        }
        return Optional.of(header("Content-Length").map(Long::parseLong).orElse(0L));
    }

    void operation(String name) {
        operation = name;
    }

    String operation() {
        return operation;
    }

    /** What was answered; 0 when nothing was. */
    int status() {
        return status;
    }

    /** Reads into {@code memory}; how many bytes came, fewer only at the end of the body. */
    long receive(MemorySegment memory) throws IOException {
        byte[] chunk = new byte[(int) Math.min(CHUNK, Math.max(1, memory.byteSize()))];
        InputStream body = http.getRequestBody();
        long at = 0;
        call.awaitClient();
        try {
            while (at < memory.byteSize()) {
                int length = (int) Math.min(chunk.length, memory.byteSize() - at);
                int got = body.read(chunk, 0, length);
                if (got < 0) {
                    break;
                }
                MemorySegment.copy(chunk, 0, memory, ValueLayout.JAVA_BYTE, at, got);
                call.moved(got);
                metrics.receivedBytes.increment(got);
                at += got;
            }
        } finally {
            call.goOn();
        }
        return at;
    }

    /** Whether the body has no byte left. */
    boolean bodyEnds() throws IOException {
        call.awaitClient();
        try {
            return http.getRequestBody().read() < 0;
        } finally {
            call.goOn();
        }
    }

    void responseHeader(String name, String value) {
        http.getResponseHeaders().set(name, value);
    }

    /** Announces a binary body of this length; {@link #write} gives it. */
    void begin(int newStatus, long length) throws IOException {
        responseHeader("Content-Type", BINARY);
        start(newStatus, length);
    }

    private void start(int newStatus, long length) throws IOException {
        status = newStatus;
        call.awaitClient();
        try {
            if (isHead()) {
                responseHeader("Content-Length", Long.toString(length));
                http.sendResponseHeaders(newStatus, -1);
            } else {
                http.sendResponseHeaders(newStatus, length == 0 ? -1 : length);
            }
        } finally {
            call.goOn();
        }
    }

    /** The client has this version already. */
    void notModified() throws IOException {
        status = HttpStatus.NOT_MODIFIED;
        call.awaitClient();
        try {
            http.sendResponseHeaders(HttpStatus.NOT_MODIFIED, -1);
        } finally {
            call.goOn();
        }
    }

    /** The rest of the announced body cannot be had: the connection ends before it. */
    void breakOff(Outcome.Failed<?> failed) {
        metrics.brokenAnswers.increment();
        LOG.log(
                Level.WARNING,
                "answer-broken-off operation={0} code={1} detail={2}",
                operation,
                failed.code().label(),
                failed.detail());
    }

    /** A part of the announced body. */
    void write(MemorySegment memory) throws IOException {
        OutputStream body = http.getResponseBody();
        byte[] chunk = new byte[(int) Math.min(CHUNK, memory.byteSize())];
        call.awaitClient();
        try {
            for (long at = 0; at < memory.byteSize(); at += chunk.length) {
                int length = (int) Math.min(chunk.length, memory.byteSize() - at);
                MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, at, chunk, 0, length);
                body.write(chunk, 0, length);
                call.moved(length);
                metrics.sentBytes.increment(length);
            }
        } finally {
            call.goOn();
        }
    }

    void json(int newStatus, ObjectNode document) throws IOException {
        send(newStatus, JSON, document.toString());
    }

    void success() throws IOException {
        json(HttpStatus.OK, Bodies.success());
    }

    void failed(Outcome.Failed<?> failed) throws IOException {
        failed(HttpStatus.of(failed.code()), failed.code(), failed.detail());
    }

    void failed(int newStatus, Code code, String detail) throws IOException {
        if (newStatus == HttpStatus.UNAVAILABLE) {
            responseHeader("Retry-After", "1");
        }
        json(newStatus, Bodies.failure(code, detail));
    }

    void badRequest(String detail) throws IOException {
        failed(HttpStatus.BAD_REQUEST, StoreCode.INVALID_PARAMS, detail);
    }

    void send(int newStatus, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        responseHeader("Content-Type", type);
        start(newStatus, bytes.length);
        if (bytes.length > 0 && !isHead()) {
            write(MemorySegment.ofArray(bytes));
        }
    }

    /** Ends the exchange: an answer that is not complete, and one of 0, break the connection. */
    void end() {
        call.awaitClient();
        try (http) {
            if (status != 0 && !isHead()) {
                http.getResponseBody().flush();
                drain();
            }
        } catch (IOException e) {
            // What the client has got of the answer is all that it will get.
            metrics.lostClients.increment();
        } finally {
            call.goOn();
        }
    }

    private void drain() throws IOException {
        byte[] chunk = new byte[CHUNK];
        InputStream body = http.getRequestBody();
        long left = DRAINED;
        int got = 0;
        while (left > 0 && got >= 0) {
            got = body.read(chunk);
            left -= got;
            call.moved(Math.max(0, got));
        }
    }
}
