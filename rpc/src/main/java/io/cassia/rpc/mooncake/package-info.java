/**
 * Messages of Mooncake Store's 64 master methods and 2 peer methods, and their typed table (spec
 * mooncake-store 11.1). Data only: what a method means is the master's business.
 */
@NullMarked
@CheckReturnValue
package io.cassia.rpc.mooncake;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
