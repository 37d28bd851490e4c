package io.cassia.transfer;

/**
 * A message pushed by a peer. Immutable.
 *
 * @param name whatever the sender calls itself; not verified
 * @param message its text
 */
public record Notification(String name, String message) {}
