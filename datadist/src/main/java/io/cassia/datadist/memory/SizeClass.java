package io.cassia.datadist.memory;

/**
 * One size class of a pool. Immutable.
 *
 * @param totalBytes memory of the class: a multiple of 2 MiB and of the block size
 * @param blockBytes smallest grant, a power of two up to 2 MiB
 * @param maxGrantBytes largest grant, at least a block and below the total
 */
public record SizeClass(long totalBytes, long blockBytes, long maxGrantBytes) {}
