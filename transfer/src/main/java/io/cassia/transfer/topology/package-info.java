/**
 * What the host is made of (NUMA nodes, network links, RDMA devices, accelerators), where memory
 * lies, and which device serves which memory. Knows nothing of segments and transfers.
 */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.topology;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
