/** Tests of the master as a process part: sockets, threads, metrics. */
@NullMarked
package io.cassia.master;

import org.jspecify.annotations.NullMarked;
