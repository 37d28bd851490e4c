package io.cassia.master.core;

import io.cassia.base.ByteString;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedSet;

/**
 * Confined to the master's lock. Objects that are leased and evicted together (spec mooncake-store
 * 3.6, 5). A group is as long as it has a member.
 */
final class GroupTable {
    private record Name(int tenant, ByteString text) {}

    /** One group. */
    static final class Group {
        final ByteString text;
        final SequencedSet<Integer> members = new LinkedHashSet<>();

        /** A member joined since the last refresh, so that the next read refreshes all. */
        boolean joined;

        private final Name name;

        private Group(Name name) {
            this.name = name;
            this.text = name.text;
        }
    }

    private final Map<Name, Group> groups = new HashMap<>();

    Group join(int slot, int tenant, ByteString text) {
        Group group = groups.computeIfAbsent(new Name(tenant, text), Group::new);
        group.members.add(slot);
        group.joined = true;
        return group;
    }

    void leave(int slot, Group group) {
        group.members.remove(slot);
        if (group.members.isEmpty()) {
            groups.remove(group.name);
        }
    }

    int count() {
        return groups.size();
    }
}
