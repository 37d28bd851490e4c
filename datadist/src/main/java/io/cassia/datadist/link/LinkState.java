package io.cassia.datadist.link;

/**
 * Where in its life a link is. Immutable.
 *
 * <pre>
 *            link / handshake             unlink
 *   (none) ──► CONNECTING ──► ACTIVE ──► UNLINKING ──► CLOSED (none)
 *                  │             │ timeout or I/O error in a       ▲
 *                  │ failed      │ transfer, peer lost, silence    │
 *                  ▼             ▼                                 │
 *                CLOSED       BROKEN ── unlink, or replaced ───────┘
 *                                       by a new handshake
 * </pre>
 */
public enum LinkState {
    CONNECTING,
    ACTIVE,
    BROKEN,
    UNLINKING,
    CLOSED
}
