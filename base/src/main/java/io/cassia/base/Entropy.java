package io.cassia.base;

import java.security.SecureRandom;

/** The process's randomness: identities, jitter. Product code takes it from its assembly. */
@FunctionalInterface
public interface Entropy {
    /** 64 uniformly random bits. */
    long nextLong();

    /** The machine's secure generator. */
    static Entropy system() {
        return new SecureRandom()::nextLong;
    }
}
