package io.cassia.master.core;

import io.cassia.base.ByteString;

/** A key in its tenant. Immutable. */
record ObjectName(ByteString tenant, ByteString key) {
    @Override
    public String toString() {
        return tenant + "/" + key;
    }
}
