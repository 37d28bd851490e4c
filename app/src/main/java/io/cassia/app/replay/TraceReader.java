package io.cassia.app.replay;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads traces: one JSON object per line with {@code hash_ids} (integers, one per block of the
 * prompt) and {@code timestamp} (milliseconds). Other members are skipped, so are empty lines; a
 * request without a timestamp arrives together with the one before. Confined to its thread.
 */
public final class TraceReader {
    private static final JsonFactory JSON = new JsonFactory();

    private final Trace.Builder trace = new Trace.Builder();
    private final long limit;
    private long fileOffsetMillis;
    private long lastMillis;

    private TraceReader(long limit) {
        this.limit = limit;
    }

    /**
     * Reads files one after the other as one trace; each file's time starts where the last one's
     * ended.
     *
     * @param limit requests to read at most
     * @return FILE_NOT_FOUND, FILE_OPEN_FAIL or FILE_READ_FAIL for the file, INVALID_PARAMS with
     *     {@code file:line} for a line that is no request or a trace without one
     */
    public static Outcome<Trace> read(List<Path> files, long limit) {
        TraceReader reader = new TraceReader(limit);
        for (Path file : files) {
            try (InputStream in = Files.newInputStream(file)) {
                reader.read(file.toString(), in);
            } catch (MalformedLine e) {
                return Outcome.failed(StoreCode.INVALID_PARAMS, e.text);
            } catch (NoSuchFileException e) {
                return Outcome.failed(StoreCode.FILE_NOT_FOUND, "trace " + file + ": no such file");
            } catch (AccessDeniedException e) {
                return Outcome.failed(StoreCode.FILE_OPEN_FAIL, "trace " + file + ": no access");
            } catch (IOException e) {
                return Outcome.failed(StoreCode.FILE_READ_FAIL, "trace " + file + ": " + e);
            }
        }
        return reader.finish("the trace " + files + " holds no request");
    }

    /** Reads one stream, for example standard input; {@code name} stands in its error messages. */
    public static Outcome<Trace> read(String name, InputStream in, long limit) {
        TraceReader reader = new TraceReader(limit);
        try {
            reader.read(name, in);
        } catch (MalformedLine e) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, e.text);
        } catch (IOException e) {
            return Outcome.failed(StoreCode.FILE_READ_FAIL, "trace " + name + ": " + e);
        }
        return reader.finish("the trace " + name + " holds no request");
    }

    private Outcome<Trace> finish(String whenEmpty) {
        return trace.requests() == 0
                ? Outcome.failed(StoreCode.INVALID_PARAMS, whenEmpty)
                : Outcome.ok(trace.build());
    }

    private void read(String name, InputStream in) throws IOException, MalformedLine {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8), 1 << 16);
        fileOffsetMillis = lastMillis;
        long number = 0;
        for (String line; trace.requests() < limit && (line = lines.readLine()) != null; ) {
            number++;
            if (line.isBlank()) {
                continue;
            }
            try {
                readRequest(line);
            } catch (JacksonException e) {
                throw new MalformedLine(name, number, e.getOriginalMessage(), line);
            } catch (BadRequest e) {
                throw new MalformedLine(name, number, e.text, line);
            }
        }
    }

    private void readRequest(String line) throws BadRequest {
        boolean hasIds = false;
        long millis = lastMillis;
        try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), line)) {
            expect(json, json.nextToken(), JsonToken.START_OBJECT, "an object");
            while (json.nextToken() != JsonToken.END_OBJECT) {
                String member = json.currentName();
                JsonToken value = json.nextToken();
                switch (member) {
                    case "hash_ids" -> {
                        expect(json, value, JsonToken.START_ARRAY, "an array in hash_ids");
                        trace.abandonRequest();
                        readIds(json);
                        hasIds = true;
                    }
                    case "timestamp" -> {
                        if (!value.isNumeric()) {
                            throw new BadRequest("timestamp is not a number");
                        }
                        millis = fileOffsetMillis + Math.max(0, (long) json.getDoubleValue());
                    }
                    default -> json.skipChildren();
                }
            }
            if (json.nextToken() != null) {
                throw new BadRequest("text behind the object");
            }
        }
        if (!hasIds) {
            throw new BadRequest("hash_ids is missing");
        }
        lastMillis = Math.max(lastMillis, millis);
        trace.endRequest(millis);
    }

    private void readIds(JsonParser json) throws BadRequest {
        for (JsonToken id; (id = json.nextToken()) != JsonToken.END_ARRAY; ) {
            expect(json, id, JsonToken.VALUE_NUMBER_INT, "integers in hash_ids");
            trace.addBlock(json.getLongValue());
        }
    }

    private static void expect(JsonParser json, JsonToken actual, JsonToken wanted, String what)
            throws BadRequest {
        if (actual != wanted) {
            throw new BadRequest("expected " + what + ", found " + json.getString());
        }
    }

    /** A line that is JSON but no request. */
    private static final class BadRequest extends Exception {
        private static final long serialVersionUID = 1L;
        final String text;

        BadRequest(String text) {
            super(text);
            this.text = text;
        }
    }

    /** A line that cannot be used, with its place. */
    private static final class MalformedLine extends Exception {
        private static final long serialVersionUID = 1L;
        private static final int SHOWN = 80;
        final String text;

        MalformedLine(String file, long line, String problem, String content) {
            super(problem);
            String shown =
                    content.length() <= SHOWN ? content : content.substring(0, SHOWN) + "...";
            text = file + ":" + line + ": " + problem.lines().findFirst().orElse("") + ": " + shown;
        }
    }
}
