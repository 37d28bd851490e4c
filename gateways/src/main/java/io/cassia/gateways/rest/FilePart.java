package io.cassia.gateways.rest;

import java.nio.file.Path;

/**
 * Part of a file of another program. Immutable.
 *
 * @param offsetBytes where it begins
 * @param lengthBytes at least 1
 */
public record FilePart(Path file, long offsetBytes, long lengthBytes) {}
