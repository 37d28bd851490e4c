package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.transfer.Security;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.environment.EngineEnvironment;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Map;

/** Starts the Transfer Engine of a client or node. Immutable. */
final class Engines {
    /** What an engine does when nobody says anything. */
    static final EngineEnvironment DEFAULT_SETTINGS = EngineEnvironment.read(Map.of()).orThrow();

    private Engines() {}

    /** TRANSFER_FAIL with the engine's own code in the detail when it cannot start. */
    static Outcome<TransferEngine> start(
            EngineEnvironment settings,
            String metadata,
            String localName,
            Security security,
            Clock clock,
            MeterRegistry meters) {
        Outcome<TransferEngine> started =
                config(settings, metadata, localName)
                        .map(config -> config.withSecurity(security))
                        .then(config -> TransferEngine.start(config, clock, meters));
        return switch (started) {
            case Outcome.Ok<TransferEngine> ok -> ok;
            case Outcome.Failed<TransferEngine> failed -> failed(failed, "own transfer engine");
        };
    }

    /**
     * Many engines of a host share one local name, so each is published under its host and its own
     * port, with a metadata store as without one.
     */
    private static Outcome<TransferConfig> config(
            EngineEnvironment settings, String metadata, String localName) {
        return settings.config(TransferConfig.P2P, localName, List::of)
                .map(
                        furnished ->
                                TransferConfig.of(metadata, furnished.localHost())
                                        .withPorts(furnished.ports())
                                        .withLanesPerPeer(furnished.lanesPerPeer())
                                        .withTransports(furnished.transports())
                                        .withTimeouts(furnished.timeouts())
                                        .withNetwork(furnished.network())
                                        .withStore(furnished.store()));
    }

    /** The engine's failure in the store's own code. */
    static <T> Outcome<T> failed(Outcome.Failed<?> failed, String context) {
        return Outcome.failed(
                StoreCode.TRANSFER_FAIL,
                context + ": " + failed.code().label() + ": " + failed.detail());
    }
}
