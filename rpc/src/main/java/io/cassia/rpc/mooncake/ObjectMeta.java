package io.cassia.rpc.mooncake;

import io.cassia.base.ByteString;
import java.util.OptionalLong;

/** Key and checksum in a PutEnd. */
public record ObjectMeta(ByteString key, OptionalLong objectChecksum) {}
