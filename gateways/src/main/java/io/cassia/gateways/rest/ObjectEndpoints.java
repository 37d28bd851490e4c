package io.cassia.gateways.rest;

import io.cassia.base.ByteString;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import java.io.IOException;

/**
 * One object at a time. Immutable.
 *
 * <pre>
 *   PUT    /api/put              {"key", "value"}   text; an existing key is left as it is: 200
 *   PUT    /api/put/{key}        the body is the value; an existing key is left as it is: 409
 *   PUT    /api/upsert/{key}     the body is the value; an existing key gets it
 *   GET    /api/get/{key}        the value, or one range of it; HEAD its length
 *   GET    /api/exist/{key}      {"exists": true}
 *   DELETE /api/remove/{key}     ?force=true although somebody reads it
 *   DELETE /api/remove_all       ?force=true
 * </pre>
 */
final class ObjectEndpoints {
    private final StoreClient client;
    private final ObjectReads reads;
    private final Uploads uploads;

    ObjectEndpoints(StoreClient client, BodyMemory memory) {
        this.client = client;
        this.reads = new ObjectReads(client, memory);
        this.uploads = new Uploads(client, memory);
    }

    /** {@code /api/put} as upstream has it: a document with a text as value. */
    void putText(RestExchange exchange) throws IOException {
        uploads.text(exchange);
    }

    void put(RestExchange exchange, String rawKey) throws IOException {
        withKey(exchange, rawKey, key -> uploads.body(exchange, key, PutOptions.DEFAULT));
    }

    void upsert(RestExchange exchange, String rawKey) throws IOException {
        withKey(exchange, rawKey, key -> uploads.body(exchange, key, PutOptions.UPSERT));
    }

    void get(RestExchange exchange, String rawKey) throws IOException {
        withKey(exchange, rawKey, key -> reads.get(exchange, key));
    }

    void exist(RestExchange exchange, String rawKey) throws IOException {
        withKey(
                exchange,
                rawKey,
                key -> {
                    switch (client.exists(key)) {
                        case Outcome.Ok<Boolean>(Boolean exists) ->
                                exchange.json(HttpStatus.OK, Bodies.object().put("exists", exists));
                        case Outcome.Failed<Boolean> failed -> exchange.failed(failed);
                    }
                });
    }

    void remove(RestExchange exchange, String rawKey) throws IOException {
        boolean force = exchange.flag("force");
        withKey(
                exchange,
                rawKey,
                key -> {
                    switch (client.remove(key, force)) {
                        case Outcome.Ok<Done> ok -> exchange.success();
                        case Outcome.Failed<Done> failed -> exchange.failed(failed);
                    }
                });
    }

    void removeAll(RestExchange exchange) throws IOException {
        switch (client.removeAll(exchange.flag("force"))) {
            case Outcome.Ok<Long>(Long removed) ->
                    exchange.json(
                            HttpStatus.OK,
                            Bodies.object().put("status", "success removed " + removed + " keys"));
            case Outcome.Failed<Long> failed -> exchange.failed(failed);
        }
    }

    private interface KeyWork {
        void run(ByteString key) throws IOException;
    }

    private static void withKey(RestExchange exchange, String rawKey, KeyWork work)
            throws IOException {
        switch (KeyPath.decode(rawKey)) {
            case Outcome.Ok<ByteString>(ByteString key) -> work.run(key);
            case Outcome.Failed<ByteString> failed -> exchange.failed(failed);
        }
    }
}
