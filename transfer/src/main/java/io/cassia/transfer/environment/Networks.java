package io.cassia.transfer.environment;

import io.cassia.base.config.ValueType;
import io.cassia.transfer.net.PeerFilter;

/** Networks of peers. Immutable. */
record Networks() implements ValueType<PeerFilter> {
    @Override
    public PeerFilter parse(String text) {
        return PeerFilter.parse(text);
    }

    @Override
    public String range() {
        return "a comma list of address/bits";
    }
}
