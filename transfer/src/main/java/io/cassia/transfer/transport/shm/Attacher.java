package io.cassia.transfer.transport.shm;

import io.cassia.transfer.memory.PeerFile;
import io.cassia.transfer.memory.SharedFiles;
import io.cassia.transfer.metadata.HostAccess;
import io.cassia.transfer.metadata.SegmentDescriptor;
import io.cassia.transfer.net.UnixSockets;
import io.cassia.transfer.transport.RouteReason;
import io.cassia.transfer.transport.Transport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Finds out whether a peer's memory can be reached without the network, and attaches to it.
 * Immutable.
 *
 * <p>A descriptor comes from the network and may say anything. So it only names a control file, by
 * a name that leads nowhere but to shared memory of this user; and it is believed only when it was
 * made with the secret in that file. All that concerns memory is then taken from the file.
 *
 * @param allowed transports that may be used
 * @param realm of the engines that trust each other
 * @param host of this process
 * @param process this process
 */
record Attacher(
        Set<Transport> allowed,
        String realm,
        HostIdentity host,
        ProcessId process,
        HostContext context) {
    private static final Set<Transport> BY_MEMORY =
            Set.copyOf(EnumSet.of(Transport.SHM, Transport.PROCESS_VM));

    /** Attaches to the owner of a segment. */
    Attachment attach(SegmentDescriptor segment) {
        if (segment.host().isEmpty()) {
            return Attachment.refused(RouteReason.NOT_OFFERED, "the peer offers nothing");
        }
        HostAccess access = segment.host().get();
        Set<Transport> usable = usable(access);
        if (usable.isEmpty()) {
            return Attachment.refused(
                    RouteReason.NOT_OFFERED, "the peer offers " + access.transports());
        }
        if (!access.boot().equals(host.boot())) {
            return Attachment.refused(
                    RouteReason.OTHER_HOST, "the peer's boot id is " + access.boot());
        }
        if (access.user() != host.user()) {
            return Attachment.refused(
                    RouteReason.OTHER_USER, "the peer belongs to user " + access.user());
        }
        if (!SharedFiles.isName(access.control())) {
            return Attachment.refused(
                    RouteReason.UNPROVEN, "the control file's name is none of ours");
        }
        if (SharedFiles.isOwn(access.control())) {
            return Attachment.refused(RouteReason.SAME_PROCESS, "the peer is this process");
        }
        return open(segment, access, usable);
    }

    private Set<Transport> usable(HostAccess access) {
        Set<Transport> usable = EnumSet.noneOf(Transport.class);
        for (Transport transport : allowed) {
            if (access.transports().contains(transport.label())) {
                usable.add(transport);
            }
        }
        return usable;
    }

    private Attachment open(SegmentDescriptor segment, HostAccess access, Set<Transport> usable) {
        PeerFile file;
        try {
            file = PeerFile.map(access.control());
        } catch (IOException e) {
            return Attachment.refused(RouteReason.NO_ACCESS, e.toString());
        }
        boolean kept = false;
        try {
            Attachment attachment = check(segment, access, file.memory());
            if (attachment.reason() == RouteReason.PREFERRED) {
                Optional<Path> socket =
                        usable.contains(Transport.UDS)
                                ? Optional.of(UnixSockets.in(SharedFiles.beside(access.control())))
                                : Optional.empty();
                attachment = attach(segment, access, usable, file, socket);
                kept = attachment.route().isPresent();
            }
            return attachment;
        } finally {
            if (!kept) {
                file.close();
            }
        }
    }

    /** Whether the file is one that we know and bears out what the descriptor says. */
    private Attachment check(SegmentDescriptor segment, HostAccess access, MemorySegment control) {
        if (control.byteSize() != ControlLayout.LENGTH_BYTES
                || ControlLayout.get(control, ControlLayout.MAGIC_OFFSET) != ControlLayout.MAGIC
                || ControlLayout.get(control, ControlLayout.VERSION_OFFSET)
                        != ControlLayout.VERSION) {
            return Attachment.refused(
                    RouteReason.OTHER_LAYOUT, access.control() + " has another layout");
        }
        byte[] secret =
                control.asSlice(ControlLayout.SECRET_OFFSET, ControlLayout.SECRET_BYTES)
                        .toArray(ValueLayout.JAVA_BYTE);
        Proof.Claim claim = new Proof.Claim(segment.name(), segment.tcpDataPort(), realm);
        return Proof.isBorneOut(access, claim, secret)
                ? Attachment.refused(RouteReason.PREFERRED, "")
                : Attachment.refused(
                        RouteReason.UNPROVEN,
                        "the descriptor was not made with the secret in " + access.control());
    }

    private Attachment attach(
            SegmentDescriptor segment,
            HostAccess access,
            Set<Transport> usable,
            PeerFile file,
            Optional<Path> socket) {
        MemorySegment control = file.memory();
        if (usable.stream().noneMatch(BY_MEMORY::contains)) {
            return new Attachment(
                    Optional.empty(), RouteReason.NOT_ALLOWED, "only a socket is wanted", socket);
        }
        long namespace = ControlLayout.get(control, ControlLayout.NAMESPACE_OFFSET);
        if (namespace != host.pidNamespace()) {
            return new Attachment(
                    Optional.empty(),
                    RouteReason.OTHER_PID_NAMESPACE,
                    "the peer's process ids are of namespace " + namespace,
                    socket);
        }
        Optional<ProcessId> owner =
                ProcessId.of(ControlLayout.get(control, ControlLayout.PROCESS_OFFSET));
        Optional<ProcessWatch> watch = owner.flatMap(id -> ProcessWatch.over(id, context.calls()));
        if (watch.isEmpty()) {
            return Attachment.refused(RouteReason.OWNER_GONE, "the peer's process has ended");
        }
        return claim(segment, access, usable, file, owner.get(), watch.get(), socket);
    }

    private Attachment claim(
            SegmentDescriptor segment,
            HostAccess access,
            Set<Transport> usable,
            PeerFile file,
            ProcessId owner,
            ProcessWatch watch,
            Optional<Path> socket) {
        Optional<Holds> holds =
                Holds.claim(
                        file.memory(), process, id -> ProcessWatch.isAlive(id, context.calls()));
        if (holds.isEmpty()) {
            watch.close();
            return new Attachment(
                    Optional.empty(),
                    RouteReason.CROWDED,
                    ControlLayout.ROWS + " engines use the peer's memory already",
                    socket);
        }
        PeerMemory memory =
                new PeerMemory(access.control(), file, holds.get(), owner, watch, context.clock());
        return new Attachment(
                Optional.of(new HostRoute(segment.name(), memory, usable, context)),
                RouteReason.PREFERRED,
                "",
                socket);
    }
}
