package io.cassia.rpc.mooncake;

import io.cassia.rpc.RpcMethod;
import java.util.List;

/**
 * One release of upstream as its peers see it: upstream changes its structs without versioning
 * them, so that compatibility is per release. Immutable.
 *
 * @param name which release, {@code mooncake-0.3.12}
 * @param serviceVersion what ServiceReady must answer for the release's clients to set up
 * @param methods its functions with their types
 */
public record Release(String name, String serviceVersion, List<RpcMethod<?, ?>> methods) {
    public Release {
        methods = List.copyOf(methods);
    }
}
