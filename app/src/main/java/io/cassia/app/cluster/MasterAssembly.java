package io.cassia.app.cluster;

import io.cassia.base.Clock;
import io.cassia.base.HostPort;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.cassia.status.Outcome;
import io.cassia.store.StoreClientConfig;
import io.cassia.transfer.metadata.HttpMetadataServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Wires a master and the metadata server beside it. Immutable. */
final class MasterAssembly {
    private MasterAssembly() {}

    /** Adds a master to the process; on failure the parts before it are stopped too. */
    static Outcome<Running.Builder> start(
            MasterSettings settings, Clock clock, Running.Builder parts) {
        HttpLimits.apply();
        PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Outcome<Running.Builder> started =
                startMetadata(settings, clock, meters, parts)
                        .then(
                                metadata ->
                                        startMaster(
                                                settings.config(), clock, meters, metadata, parts));
        if (!started.isOk()) {
            parts.abandon();
        }
        return started;
    }

    /** The value is what engines are given as metadata. */
    private static Outcome<String> startMetadata(
            MasterSettings settings, Clock clock, MeterRegistry meters, Running.Builder parts) {
        if (settings.metadataPort() == MasterSettings.NO_METADATA) {
            return Outcome.ok(StoreClientConfig.P2P);
        }
        return switch (HttpMetadataServer.start(
                settings.metadataHost(), settings.metadataPort(), clock, meters)) {
            case Outcome.Ok<HttpMetadataServer>(HttpMetadataServer server) -> {
                HostPort address = new HostPort(advertised(settings.metadataHost()), server.port());
                parts.onClose(server::close)
                        .listensOn("metadata", "http://" + address + "/metadata");
                yield Outcome.ok("http://" + address + "/metadata");
            }
            case Outcome.Failed<HttpMetadataServer> failure ->
                    failure.in("metadata server (--metadata-port)");
        };
    }

    private static Outcome<Running.Builder> startMaster(
            MasterConfig config,
            Clock clock,
            PrometheusMeterRegistry meters,
            String metadata,
            Running.Builder parts) {
        return switch (Master.start(config, clock, meters, meters::scrape)) {
            case Outcome.Ok<Master>(Master master) -> {
                String rpc =
                        new HostPort(advertised(config.rpcHost()), master.rpcPort()).toString();
                parts.onClose(master::close).reachedAt(rpc, metadata).listensOn("rpc", rpc);
                if (master.httpPort() != MasterConfig.HTTP_OFF) {
                    HostPort http = new HostPort(advertised(config.httpHost()), master.httpPort());
                    parts.listensOn("admin", "http://" + http);
                }
                yield Outcome.ok(parts);
            }
            case Outcome.Failed<Master> failure -> failure.in("master");
        };
    }

    /** A name that others can connect to, for a server that listens on every interface. */
    static String advertised(String host) {
        try {
            return InetAddress.getByName(host).isAnyLocalAddress()
                    ? InetAddress.getLocalHost().getHostAddress()
                    : host;
        } catch (UnknownHostException e) {
            return host;
        }
    }
}
