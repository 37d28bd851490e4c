package io.cassia.master.core;

import java.util.List;

/**
 * Confined to the simulation. A message to the master, with what the audit knows of it beside what
 * the master is told.
 *
 * @param <R> the answer
 */
final class Request<R> {
    final Command<R> command;
    final String sender;
    final long sentNanos;

    /** The puts and upserts that it starts, ends or revokes, in the order of its keys. */
    final List<WriteAttempt> attempts;

    /** Who holds what the answer lets somebody read or write. */
    final long holder;

    /** How often it has arrived. */
    int arrivals;

    Request(
            Command<R> command,
            String sender,
            long sentNanos,
            List<WriteAttempt> attempts,
            long holder) {
        this.command = command;
        this.sender = sender;
        this.sentNanos = sentNanos;
        this.attempts = attempts;
        this.holder = holder;
    }
}
