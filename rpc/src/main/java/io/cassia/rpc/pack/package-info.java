/**
 * struct_pack: typed messages as bytes (spec mooncake-store 11.2). A {@link WireType} knows its
 * type literal and how to write and read a value; a {@link WireBody} adds the head that names the
 * type. Nothing here knows a method or a socket.
 */
@NullMarked
@CheckReturnValue
package io.cassia.rpc.pack;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
