package io.cassia.master.http;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.SetTenantQuota;
import io.cassia.rpc.cassia.CassiaMessages.TenantQuota;
import io.cassia.status.Outcome;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Immutable. Quotas of tenants (spec mooncake-store 9.2, 12.1). */
final class TenantEndpoints {
    private static final String PATH = "/api/v1/tenant_quotas";

    private final AdminQueries queries;

    TenantEndpoints(AdminQueries queries) {
        this.queries = queries;
    }

    void register(Endpoints endpoints) {
        endpoints
                .get(PATH, this::list)
                .add("PUT", PATH, this::set)
                .add("DELETE", PATH, this::delete);
    }

    private Reply list(Request request) {
        Optional<ByteString> one =
                request.query().find("tenant_id").filter(name -> !name.isEmpty());
        return Reply.of(
                queries.tenantQuotas(one.orElse(ByteString.EMPTY)),
                found -> Reply.json(one.isPresent() ? single(found.getFirst()) : all(found)));
    }

    private static ObjectNode all(List<TenantQuota> quotas) {
        ObjectNode body = Reply.success();
        ArrayNode data = body.putArray("data");
        quotas.forEach(quota -> describe(data.addObject(), quota));
        return body;
    }

    private static ObjectNode single(TenantQuota quota) {
        ObjectNode body = Reply.success();
        describe(body.putObject("data"), quota);
        return body;
    }

    private static void describe(ObjectNode into, TenantQuota quota) {
        into.put("tenant_id", quota.tenant().text())
                .put("requested_quota_bytes", quota.requestedBytes())
                .put("effective_quota_bytes", quota.effectiveBytes())
                .put("charged_bytes", quota.chargedBytes())
                .put("admission_closed", quota.admissionClosed())
                .put("over_quota", quota.overQuota())
                .put("has_explicit_policy", quota.explicit())
                .put("objects", quota.objects());
    }

    private Reply set(Request request) {
        return Reply.of(
                request.require("tenant_id")
                        .then(tenant -> request.json().then(body -> quota(tenant, body)))
                        .then(queries::setTenantQuota),
                quota -> Reply.json(single(quota)));
    }

    private static Outcome<SetTenantQuota> quota(ByteString tenant, JsonNode body) {
        return Request.number(body, "requested_quota_bytes")
                .then(
                        bytes ->
                                bytes.isPresent()
                                        ? Outcome.ok(new SetTenantQuota(tenant, bytes.getAsLong()))
                                        : Request.invalid("requested_quota_bytes is missing"));
    }

    private Reply delete(Request request) {
        return Reply.of(
                request.require("tenant_id").then(queries::deleteTenantQuota),
                _ -> Reply.json(Reply.success()));
    }
}
