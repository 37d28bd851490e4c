package io.cassia.master.core;

import io.cassia.base.ByteString;
import java.util.Optional;

/**
 * Which objects an operation over all of them means. Immutable.
 *
 * @param tenant of one tenant, or of all when empty
 * @param regex ECMAScript expression that is searched for in the key, bytes taken as ISO 8859-1;
 *     all keys when empty
 */
public record Selection(Optional<ByteString> tenant, Optional<ByteString> regex) {}
