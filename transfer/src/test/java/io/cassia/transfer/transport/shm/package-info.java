@NullMarked
package io.cassia.transfer.transport.shm;

import org.jspecify.annotations.NullMarked;
