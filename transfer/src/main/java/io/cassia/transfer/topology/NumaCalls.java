package io.cassia.transfer.topology;

/**
 * The kernel's calls about NUMA. Every call returns a negative error number when it fails. Guarded:
 * the kernel's own.
 */
interface NumaCalls {
    /** Node of each page, or a negative error number per page; returns 0. */
    long nodesOf(long[] pages, int[] nodes);

    /** Node of a byte, which is read and so put somewhere if it was nowhere. */
    long nodeOf(long address);

    /** Puts pages on a node, now and later. */
    long bind(long address, long lengthBytes, int node);

    /** Makes a node the first choice for what the calling thread touches first. */
    long prefer(int node);

    /** Makes the calling thread run on these CPUs alone. */
    long runOn(CpuSet cpus);
}
