package io.cassia.datadist.link;

/** What a link is used for. Immutable. Different kinds exclude each other on one link. */
public enum OpKind {
    PULL,
    PUSH,
    CHECK
}
