package io.cassia.rpc;

/**
 * A method's implementation. Called on the connection's thread, by many connections at once; an
 * exception becomes the error "rpc_throw_exception" for the caller.
 */
@FunctionalInterface
public interface RpcHandler<A, R> {
    R handle(A arguments, RpcContext context);
}
