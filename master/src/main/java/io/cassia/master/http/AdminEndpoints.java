package io.cassia.master.http;

import java.util.function.Supplier;

/** All endpoints together. Immutable. */
final class AdminEndpoints {
    private AdminEndpoints() {}

    static Endpoints of(AdminQueries queries, Supplier<String> metricsText) {
        Endpoints endpoints = new Endpoints();
        new StatusEndpoints(queries, metricsText).register(endpoints);
        new KeyEndpoints(queries).register(endpoints);
        new SegmentEndpoints(queries).register(endpoints);
        new DrainEndpoints(queries).register(endpoints);
        new TenantEndpoints(queries).register(endpoints);
        return endpoints;
    }
}
