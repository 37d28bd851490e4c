package io.cassia.datadist.exchange;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.CacheTable;
import io.cassia.datadist.link.LinkMeters;

/**
 * What all parts of an exchange share. Immutable.
 *
 * @param clusterId this cluster
 * @param caches caches of this side
 * @param clock time
 * @param meters counters
 * @param leases leaves that peers have to read here
 * @param fetcher reader of peers' memory
 * @param events where ends of the peers' transfers go
 */
record ExchangeParts(
        long clusterId,
        CacheTable caches,
        Clock clock,
        LinkMeters meters,
        LeaseTable leases,
        Fetcher fetcher,
        TransferEvents events) {}
