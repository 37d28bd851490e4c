package io.cassia.gateways.rest;

import io.cassia.status.StoreCode;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Which path does what (spec mooncake-store 12.3, docs/adr/0045). Immutable. */
final class RestEndpoints {
    private interface Work {
        /**
         * @param rest what follows the route in the path, as it stands
         */
        void run(RestExchange exchange, String rest) throws IOException;
    }

    /**
     * One operation. Immutable.
     *
     * @param name in metrics
     * @param methods that it answers to
     */
    private record Route(String name, List<String> methods, Work work) {}

    /** By path; a path that ends with a slash is followed by a key. */
    private final Map<String, Route> routes;

    RestEndpoints(
            ObjectEndpoints objects,
            BatchEndpoints batches,
            SegmentEndpoints segments,
            StatusEndpoints status) {
        this.routes =
                Map.ofEntries(
                        route("/api/put", "PUT", (exchange, none) -> objects.putText(exchange)),
                        route("/api/put/", "PUT", objects::put),
                        route("/api/upsert/", "PUT", objects::upsert),
                        Map.entry(
                                "/api/get/",
                                new Route("get", List.of("GET", "HEAD"), objects::get)),
                        route("/api/exist/", "GET", objects::exist),
                        route("/api/remove/", "DELETE", objects::remove),
                        route(
                                "/api/remove_all",
                                "DELETE",
                                (exchange, none) -> objects.removeAll(exchange)),
                        route("/api/batch_put", "POST", (exchange, none) -> batches.put(exchange)),
                        route("/api/batch_get", "POST", (exchange, none) -> batches.get(exchange)),
                        route(
                                "/api/batch_exist",
                                "POST",
                                (exchange, none) -> batches.exist(exchange)),
                        route(
                                "/api/batch_remove",
                                "POST",
                                (exchange, none) -> batches.remove(exchange)),
                        route(
                                "/api/longest_prefix",
                                "POST",
                                (exchange, none) -> batches.longestPrefix(exchange)),
                        route("/api/mount", "POST", (exchange, none) -> segments.mount(exchange)),
                        route(
                                "/api/unmount",
                                "POST",
                                (exchange, none) -> segments.unmount(exchange)),
                        route(
                                "/api/unmount_shm",
                                "POST",
                                (exchange, none) -> segments.unmount(exchange)),
                        route(
                                "/api/mount_shm",
                                "POST",
                                (exchange, none) -> segments.mountShm(exchange)),
                        route(
                                "/api/reconfigure",
                                "POST",
                                (exchange, none) -> segments.reconfigure(exchange)),
                        route(
                                "/api/unmount_local_disk",
                                "POST",
                                (exchange, none) -> segments.unmountLocalDisk(exchange)),
                        route("/health", "GET", (exchange, none) -> status.health(exchange)),
                        route("/metrics", "GET", (exchange, none) -> status.metrics(exchange)),
                        route(
                                "/metrics/summary",
                                "GET",
                                (exchange, none) -> status.summary(exchange)));
    }

    private static Map.Entry<String, Route> route(String path, String method, Work work) {
        String name = path.replace("/api/", "").replace("/", "");
        return Map.entry(path, new Route(name, List.of(method), work));
    }

    void handle(RestExchange exchange) throws IOException {
        String path = exchange.rawPath();
        String prefix = path;
        Route route = routes.get(path);
        if (route == null) {
            prefix = keyed(path);
            route = routes.get(prefix);
        }
        if (route == null) {
            exchange.failed(
                    HttpStatus.NOT_FOUND, StoreCode.INVALID_PARAMS, "no such endpoint: " + path);
        } else if (!route.methods().contains(exchange.method())) {
            exchange.responseHeader("Allow", String.join(", ", route.methods()));
            exchange.failed(
                    HttpStatus.METHOD_NOT_ALLOWED,
                    StoreCode.INVALID_PARAMS,
                    "use " + String.join(" or ", route.methods()));
        } else {
            exchange.operation(route.name());
            route.work().run(exchange, path.substring(prefix.length()));
        }
    }

    /** {@code /api/get/} of {@code /api/get/a/b}. */
    private static String keyed(String path) {
        int end = path.indexOf('/', "/api/".length());
        return end < 0 ? path : path.substring(0, end + 1);
    }
}
