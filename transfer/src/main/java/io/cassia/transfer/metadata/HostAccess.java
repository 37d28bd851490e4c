package io.cassia.transfer.metadata;

import java.util.List;
import java.util.Objects;

/**
 * What an engine tells the other processes of its host, so that they can reach its memory without
 * the network. Immutable. None of it is to be believed before the proof was checked with the secret
 * in the control file, which only processes of the same user on the same host can read.
 *
 * @param boot the host's boot id: two processes with the same one run under the same kernel
 * @param user number of the user
 * @param pidNamespace number of the namespace in which its process id means something
 * @param control name of its control file in shared memory
 * @param transports labels of the transports it offers
 * @param proof keyed digest of all this and of the segment it belongs to, in hexadecimal
 */
public record HostAccess(
        String boot,
        long user,
        long pidNamespace,
        String control,
        List<String> transports,
        String proof) {
    public HostAccess {
        Objects.requireNonNull(boot);
        Objects.requireNonNull(control);
        Objects.requireNonNull(proof);
        transports = List.copyOf(transports);
    }

    /** The same with another proof. */
    public HostAccess withProof(String value) {
        return new HostAccess(boot, user, pidNamespace, control, transports, value);
    }
}
