package io.cassia.app.cluster;

import io.cassia.base.Clock;
import io.cassia.base.HostPort;
import io.cassia.gateways.rest.RestConfig;
import io.cassia.gateways.rest.RestServer;
import io.cassia.status.Outcome;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

/** Wires the REST service and the client that it stands on. Immutable. */
final class GatewayAssembly {
    private GatewayAssembly() {}

    static Outcome<Running.Builder> start(
            StoreClientConfig client, RestConfig rest, Clock clock, Running.Builder parts) {
        PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Outcome<Running.Builder> started =
                StoreClient.connect(client, clock, meters)
                        .then(
                                store -> {
                                    parts.onClose(store::close);
                                    LentSegments segments = new LentSegments(client, clock, meters);
                                    parts.onClose(segments::close);
                                    return RestServer.start(
                                                    rest,
                                                    store,
                                                    segments,
                                                    clock,
                                                    meters,
                                                    meters::scrape)
                                            .map(server -> serving(server, rest, parts));
                                });
        if (!started.isOk()) {
            parts.abandon();
        }
        return started;
    }

    private static Running.Builder serving(
            RestServer server, RestConfig rest, Running.Builder parts) {
        HostPort address = new HostPort(MasterAssembly.advertised(rest.host()), server.port());
        return parts.onClose(server::close).listensOn("rest", rest.scheme() + "://" + address);
    }
}
