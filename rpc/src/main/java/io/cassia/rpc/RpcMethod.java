package io.cassia.rpc;

import io.cassia.rpc.pack.WireBody;
import io.cassia.rpc.pack.WireType;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A remote function with its types. Immutable; kept in constants such as those of {@code
 * MasterMethods}.
 *
 * @param <A> arguments: one value, a record for several, {@code Done} for none
 * @param <R> result
 * @param name the qualified name that the function id is made of, {@code
 *     mooncake::WrappedMasterService::ExistKey}
 * @param functionId how frames name it
 * @param arguments how arguments travel
 * @param result how the result travels
 */
public record RpcMethod<A, R>(
        String name, int functionId, WireBody<A> arguments, WireBody<R> result) {
    /** A method whose function id is the first four MD5 bytes of its name, big-endian. */
    public static <A, R> RpcMethod<A, R> of(
            String name, WireType<A> arguments, WireType<R> result) {
        return new RpcMethod<>(name, idOf(name), WireBody.of(arguments), WireBody.of(result));
    }

    /** The name without its namespace and class: {@code ExistKey}. */
    public String shortName() {
        return name.substring(name.lastIndexOf(':') + 1);
    }

    @Override
    public String toString() {
        return name;
    }

    private static int idOf(String name) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("MD5").digest(name.getBytes(StandardCharsets.UTF_8));
            return (digest[0] & 0xff) << 24
                    | (digest[1] & 0xff) << 16
                    | (digest[2] & 0xff) << 8
                    | (digest[3] & 0xff);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JDK has no MD5", e);
        }
    }
}
