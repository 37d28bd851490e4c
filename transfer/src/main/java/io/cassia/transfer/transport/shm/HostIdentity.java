package io.cassia.transfer.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What processes that can share memory have in common. Immutable.
 *
 * @param boot the kernel's boot id
 * @param user number of the user
 * @param pidNamespace number of the namespace of process ids
 */
record HostIdentity(String boot, long user, long pidNamespace) {
    /** That of this process; empty when the host does not tell, so on everything but Linux. */
    static Optional<HostIdentity> own() {
        try {
            String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
            int user = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            // "pid:[4026531836]"
            String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
            long number =
                    Long.parseLong(
                            namespace.substring(
                                    namespace.indexOf('[') + 1, namespace.indexOf(']')));
            return Optional.of(new HostIdentity(boot, Integer.toUnsignedLong(user), number));
        } catch (IOException | RuntimeException e) {
            System.getLogger(HostIdentity.class.getName())
                    .log(System.Logger.Level.DEBUG, "host-identity-not-known", e);
            return Optional.empty();
        }
    }
}
