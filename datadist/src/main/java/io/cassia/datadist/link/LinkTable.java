package io.cassia.datadist.link;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The links of an instance, one per peer. Guarded. */
public final class LinkTable {
    /** Links of an instance where the communication resource format sets no other limit. */
    public static final int DEFAULT_MAX_LINKS = 512;

    private final long ownId;
    private final int maxLinks;
    private final int channels;
    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<Long, Link> links = new HashMap<>();

    @GuardedBy("lock")
    private String frozen = "";

    /** Why nobody is let in who dials; empty while this side listens. */
    @GuardedBy("lock")
    private String deaf = "";

    public LinkTable(long ownId, int maxLinks, int channels, Clock clock) {
        this.ownId = ownId;
        this.maxLinks = maxLinks;
        this.channels = channels;
        this.clock = clock;
    }

    /**
     * Takes the place of a peer before it is dialled. {@code LLM_ALREADY_LINK} when it is taken,
     * {@code LLM_LINK_FAILED} when all places are.
     */
    Outcome<Link> reserve(ClusterInfo cluster) {
        lock.lock();
        try {
            Link present = links.get(cluster.remoteClusterId());
            if (present != null) {
                return Outcome.failed(LlmStatus.LLM_ALREADY_LINK, already(present));
            }
            Link link =
                    new Link(
                            cluster.remoteClusterId(),
                            true,
                            cluster.remoteIps().getFirst().toString(),
                            channels,
                            clock);
            return put(link);
        } finally {
            lock.unlock();
        }
    }

    private static String already(Link present) {
        return switch (present.state()) {
            case BROKEN ->
                    "%s is linked, but the link is broken (%s): unlink it first"
                            .formatted(present, present.whyBroken());
            case CONNECTING -> "the link with %s is being made".formatted(present);
            case ACTIVE, UNLINKING, CLOSED -> "%s is linked already".formatted(present);
        };
    }

    /** Takes the place of a link that broke, to dial the peer again; false when it has lost it. */
    Outcome<Link> replaceBroken(Link broken) {
        lock.lock();
        try {
            if (links.get(broken.peerId()) != broken || !frozen.isEmpty()) {
                return Outcome.failed(
                        LlmStatus.LLM_NOT_YET_LINK, "the link with " + broken + " was given up");
            }
            Link link = new Link(broken.peerId(), true, broken.address(), channels, clock);
            links.put(link.peerId(), link);
            return Outcome.ok(link);
        } finally {
            lock.unlock();
        }
    }

    /** Puts a broken link back in the place of a new one that did not come to be. */
    void restore(Link broken, Link instead) {
        lock.lock();
        try {
            links.replace(broken.peerId(), instead, broken);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes the place of a peer that dials in. A link that the peer has forgotten is replaced.
     *
     * @param expected the link that may be replaced although another incarnation made it; the
     *     caller has found it dead
     */
    Outcome<Accepted> accept(Peer peer, String address, @Nullable Link expected) {
        lock.lock();
        try {
            if (!frozen.isEmpty()) {
                return Outcome.failed(LlmStatus.LLM_LINK_FAILED, frozen);
            }
            // A handshake may have begun before the listener was closed.
            if (!deaf.isEmpty()) {
                return Outcome.failed(LlmStatus.LLM_LINK_FAILED, deaf);
            }
            Link present = links.get(peer.clusterId());
            if (present != null && present != expected) {
                Outcome<Done> yields = yields(present, peer);
                if (yields instanceof Outcome.Failed<Done> failed) {
                    return failed.as();
                }
            }
            if (present != null) {
                links.remove(present.peerId());
            }
            Link link = new Link(peer.clusterId(), false, address, channels, clock);
            return put(link).map(made -> new Accepted(made, present));
        } finally {
            lock.unlock();
        }
    }

    /**
     * A place that was taken by an incoming link. Immutable.
     *
     * @param link the new link
     * @param replaced the link that stood there before
     */
    record Accepted(Link link, @Nullable Link replaced) {}

    /** Whether a link makes room; LLM_LINK_BUSY asks the caller to find out whether it is alive. */
    private Outcome<Done> yields(Link present, Peer peer) {
        return switch (present.state()) {
            case BROKEN, CLOSED, UNLINKING -> Outcome.done();
            case ACTIVE -> Outcome.failed(LlmStatus.LLM_LINK_BUSY, "is it alive?");
            case CONNECTING ->
                    !present.isDialed() || Long.compareUnsigned(ownId, peer.clusterId()) > 0
                            ? Outcome.done()
                            : Outcome.failed(
                                    LlmStatus.LLM_ALREADY_LINK,
                                    "both sides dial each other; the dial of cluster %s counts"
                                            .formatted(Long.toUnsignedString(ownId)));
        };
    }

    @GuardedBy("lock")
    private Outcome<Link> put(Link link) {
        if (!frozen.isEmpty()) {
            return Outcome.failed(LlmStatus.LLM_LINK_FAILED, frozen);
        }
        if (links.size() >= maxLinks) {
            return Outcome.failed(
                    LlmStatus.LLM_LINK_FAILED,
                    "all %d links of cluster %s are taken"
                            .formatted(maxLinks, Long.toUnsignedString(ownId)));
        }
        links.put(link.peerId(), link);
        return Outcome.ok(link);
    }

    /** Frees the place of a link, if it still has it. */
    void remove(Link link) {
        lock.lock();
        try {
            links.remove(link.peerId(), link);
        } finally {
            lock.unlock();
        }
    }

    @Nullable Link find(long peerId) {
        lock.lock();
        try {
            return links.get(peerId);
        } finally {
            lock.unlock();
        }
    }

    /** The link of a peer in any state; {@code LLM_NOT_YET_LINK} when there is none. */
    public Outcome<Link> require(long peerId) {
        Link link = find(peerId);
        return link == null
                ? Outcome.failed(
                        LlmStatus.LLM_NOT_YET_LINK,
                        "cluster %s is not linked: never, or unlinked by either side"
                                .formatted(Long.toUnsignedString(peerId)))
                : Outcome.ok(link);
    }

    public List<Link> links() {
        lock.lock();
        try {
            return new ArrayList<>(links.values());
        } finally {
            lock.unlock();
        }
    }

    /** Lets no link in from now on; false when there are links. */
    boolean freezeIfEmpty(String why) {
        lock.lock();
        try {
            if (!links.isEmpty()) {
                return false;
            }
            frozen = why;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Lets no link in from now on; those that are there stay. */
    void freeze(String why) {
        lock.lock();
        try {
            frozen = why;
        } finally {
            lock.unlock();
        }
    }

    void thaw(String whyDeaf) {
        lock.lock();
        try {
            frozen = "";
            deaf = whyDeaf;
        } finally {
            lock.unlock();
        }
    }
}
