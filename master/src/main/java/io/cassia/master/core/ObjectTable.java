package io.cassia.master.core;

import io.cassia.rpc.mooncake.Uuid;
import java.util.Arrays;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. The objects as records of 13 longs in pages, addressed by a
 * positive {@code int} slot; 0 is no object. An object of one memory replica costs its record, its
 * key and an index entry; what few objects have is in an {@link ObjectExtra}.
 *
 * <pre>
 *  0  size                    bytes
 *  1  replica id              of the memory replica held inline
 *  2  segment : flags         index of its segment, 0 when there is no memory replica
 *  3  allocation              its handle in the segment's allocator
 *  4  offset                  its first byte in the segment
 *  5  read lease until        nanoseconds; in the past when none
 *  6  exist lease until       nanoseconds; in the past when none
 *  7  lease count : tenant    counted leases; tenant number
 *  8  writer, first half
 *  9  writer, second half
 * 10  stamp                   in flight: start in nanoseconds; else: number of the last use
 * 11  previous : next         in the list that the flags name
 * 12  checksum                when the flags say so
 * </pre>
 */
final class ObjectTable implements KeyIndex.KeyCheck {
    static final int NONE = 0;

    /** Heap bytes of an object without its key: record, references, index entry, block. */
    static final int OVERHEAD_BYTES = 13 * Long.BYTES + 2 * 4 + 16 + 48;

    static final int LIVE = 1;

    /** The inline replica is COMPLETE, else PROCESSING. */
    static final int COMPLETE = 1 << 1;

    /** A put or upsert of this key is in flight. */
    static final int IN_FLIGHT = 1 << 2;

    static final int HARD_PIN = 1 << 3;
    static final int HAS_CHECKSUM = 1 << 4;
    static final int HAS_EXTRA = 1 << 5;

    /** Erased, but counted leases still name the slot. */
    static final int ZOMBIE = 1 << 6;

    /** An upsert by the writer of the current version was dropped: its End must not succeed. */
    static final int UPSERT_LOST = 1 << 7;

    /** Its bytes are in the sum of read-leased bytes. */
    static final int SUMMED = 1 << 11;

    /** A copy or move of one of its replicas is under way. */
    static final int REPLICATING = 1 << 12;

    /** Space without a key yet, which no key finds; in flight. */
    static final int RESERVED = 1 << 13;

    private static final int LIST_SHIFT = 8;
    private static final int LIST_MASK = 7 << LIST_SHIFT;
    private static final int TYPE_SHIFT = 16;

    private static final byte[] NO_KEY = {};
    private static final int STRIDE = 13;
    private static final int PAGE_BITS = 10;
    private static final int PAGE_MASK = (1 << PAGE_BITS) - 1;
    private static final long LOW = 0xFFFF_FFFFL;

    private final KeyHash hash;
    private final KeyIndex index = new KeyIndex();
    private long[][] pages = new long[4][];
    private byte[][][] keys = new byte[4][][];
    private @Nullable ObjectExtra[][] extras = new ObjectExtra[4][];
    private int highest;
    private int recycled;
    private int live;

    ObjectTable(long seed) {
        hash = new KeyHash(seed);
    }

    int find(int tenant, byte[] key) {
        return index.find(hash.of(tenant, key), tenant, key, this);
    }

    /** The hash of an object's tenant and key. */
    long hash(int slot) {
        return hash.of(tenant(slot), key(slot));
    }

    /** Visits the objects in one part of the index. */
    void forEachInPart(int part, IntConsumer visitor) {
        index.forEach(part, visitor);
    }

    /** A new object with all fields 0; the key must not be there. */
    int create(int tenant, byte[] key) {
        int slot = take(tenant, key);
        setPair(slot, 2, 0, LIVE);
        index.add(hash.of(tenant, key), slot);
        live++;
        return slot;
    }

    /** A record as of an object, but without a key: nothing finds it, and it does not count. */
    int reserve(int tenant) {
        int slot = take(tenant, NO_KEY);
        setPair(slot, 2, 0, LIVE | RESERVED);
        return slot;
    }

    private int take(int tenant, byte[] key) {
        int slot = recycled;
        if (slot == NONE) {
            slot = ++highest;
            ensurePage(slot >>> PAGE_BITS);
        } else {
            recycled = next(slot);
            int at = at(slot);
            Arrays.fill(page(slot), at, at + STRIDE, 0);
        }
        keys[slot >>> PAGE_BITS][slot & PAGE_MASK] = key;
        setPair(slot, 7, 0, tenant);
        return slot;
    }

    /** Forgets the key; the slot stays taken while counted leases name it. */
    void erase(int slot) {
        if (isNamed(slot)) {
            index.remove(hash.of(tenant(slot), key(slot)), slot);
            live--;
        }
        keys[slot >>> PAGE_BITS][slot & PAGE_MASK] = NO_KEY;
        dropExtra(slot);
        if (leaseCount(slot) > 0) {
            setFlags(slot, ZOMBIE);
        } else {
            recycle(slot);
        }
    }

    /** Makes an erased slot usable again. */
    void recycle(int slot) {
        setFlags(slot, 0);
        setLinks(slot, NONE, recycled);
        recycled = slot;
    }

    private void ensurePage(int page) {
        if (page == pages.length) {
            pages = Arrays.copyOf(pages, page * 2);
            keys = Arrays.copyOf(keys, page * 2);
            extras = Arrays.copyOf(extras, page * 2);
        }
        if (pages[page] == null) {
            pages[page] = new long[STRIDE << PAGE_BITS];
            keys[page] = new byte[1 << PAGE_BITS][];
        }
    }

    @Override
    public boolean matches(int slot, int tenant, byte[] key) {
        return tenant(slot) == tenant && Arrays.equals(key(slot), key);
    }

    /** Slots are 1 to this; some of them hold no object. */
    int highestSlot() {
        return highest;
    }

    /** Objects; reserved space is none. */
    int count() {
        return live;
    }

    boolean isLive(int slot) {
        return has(slot, LIVE);
    }

    /** Whether the slot holds an object, not mere space. */
    boolean isNamed(int slot) {
        return (flags(slot) & (LIVE | RESERVED)) == LIVE;
    }

    byte[] key(int slot) {
        return keys[slot >>> PAGE_BITS][slot & PAGE_MASK];
    }

    @Nullable ObjectExtra extra(int slot) {
        return has(slot, HAS_EXTRA) ? extras[slot >>> PAGE_BITS][slot & PAGE_MASK] : null;
    }

    /** The object's extra, made when there was none. */
    ObjectExtra requireExtra(int slot) {
        ObjectExtra present = extra(slot);
        if (present != null) {
            return present;
        }
        int page = slot >>> PAGE_BITS;
        if (extras[page] == null) {
            extras[page] = new ObjectExtra[1 << PAGE_BITS];
        }
        ObjectExtra created = new ObjectExtra();
        extras[page][slot & PAGE_MASK] = created;
        set(slot, HAS_EXTRA);
        return created;
    }

    /** Drops an extra that says nothing any more. */
    void trimExtra(int slot) {
        ObjectExtra extra = extra(slot);
        if (extra != null && extra.isEmpty()) {
            dropExtra(slot);
        }
    }

    private void dropExtra(int slot) {
        if (has(slot, HAS_EXTRA)) {
            extras[slot >>> PAGE_BITS][slot & PAGE_MASK] = null;
            clear(slot, HAS_EXTRA);
        }
    }

    long size(int slot) {
        return page(slot)[at(slot)];
    }

    void setSize(int slot, long size) {
        page(slot)[at(slot)] = size;
    }

    long replicaId(int slot) {
        return page(slot)[at(slot) + 1];
    }

    int segment(int slot) {
        return high(slot, 2);
    }

    long allocation(int slot) {
        return page(slot)[at(slot) + 3];
    }

    long offset(int slot) {
        return page(slot)[at(slot) + 4];
    }

    void setReplica(int slot, long id, int segment, long allocation, long offset) {
        long[] page = page(slot);
        int at = at(slot);
        page[at + 1] = id;
        page[at + 2] = ((long) segment << 32) | (page[at + 2] & LOW);
        page[at + 3] = allocation;
        page[at + 4] = offset;
    }

    /** Bytes of all memory replicas of the current version. */
    long memoryBytes(int slot) {
        if (segment(slot) == 0) {
            return 0;
        }
        ObjectExtra extra = extra(slot);
        return size(slot) * (extra == null ? 1 : 1 + extra.replicas.size());
    }

    long readLeaseUntil(int slot) {
        return page(slot)[at(slot) + 5];
    }

    void setReadLeaseUntil(int slot, long nanos) {
        page(slot)[at(slot) + 5] = nanos;
    }

    long existLeaseUntil(int slot) {
        return page(slot)[at(slot) + 6];
    }

    void setExistLeaseUntil(int slot, long nanos) {
        page(slot)[at(slot) + 6] = nanos;
    }

    int leaseCount(int slot) {
        return high(slot, 7);
    }

    void setLeaseCount(int slot, int count) {
        setPair(slot, 7, count, tenant(slot));
    }

    int tenant(int slot) {
        return low(slot, 7);
    }

    Uuid writer(int slot) {
        long[] page = page(slot);
        int at = at(slot);
        return new Uuid(page[at + 8], page[at + 9]);
    }

    boolean isWriter(int slot, Uuid client) {
        long[] page = page(slot);
        int at = at(slot);
        return page[at + 8] == client.first() && page[at + 9] == client.second();
    }

    void setWriter(int slot, Uuid client) {
        long[] page = page(slot);
        int at = at(slot);
        page[at + 8] = client.first();
        page[at + 9] = client.second();
    }

    long stamp(int slot) {
        return page(slot)[at(slot) + 10];
    }

    void setStamp(int slot, long stamp) {
        page(slot)[at(slot) + 10] = stamp;
    }

    int previous(int slot) {
        return high(slot, 11);
    }

    int next(int slot) {
        return low(slot, 11);
    }

    void setLinks(int slot, int previous, int next) {
        setPair(slot, 11, previous, next);
    }

    long checksum(int slot) {
        return page(slot)[at(slot) + 12];
    }

    void setChecksum(int slot, long checksum) {
        page(slot)[at(slot) + 12] = checksum;
    }

    int flags(int slot) {
        return low(slot, 2);
    }

    boolean has(int slot, int flag) {
        return (low(slot, 2) & flag) != 0;
    }

    void set(int slot, int flag) {
        setFlags(slot, flags(slot) | flag);
    }

    void clear(int slot, int flag) {
        setFlags(slot, flags(slot) & ~flag);
    }

    int list(int slot) {
        return (flags(slot) & LIST_MASK) >>> LIST_SHIFT;
    }

    void setList(int slot, int list) {
        setFlags(slot, (flags(slot) & ~LIST_MASK) | (list << LIST_SHIFT));
    }

    int dataType(int slot) {
        return flags(slot) >>> TYPE_SHIFT & 0xFF;
    }

    void setDataType(int slot, int type) {
        setFlags(slot, (flags(slot) & ~(0xFF << TYPE_SHIFT)) | ((type & 0xFF) << TYPE_SHIFT));
    }

    void digest(Digest digest) {
        digest.add(highest);
        digest.add(recycled);
        for (int slot = 1; slot <= highest; slot++) {
            long[] page = page(slot);
            int at = at(slot);
            for (int field = 0; field < STRIDE; field++) {
                digest.add(page[at + field]);
            }
            digest.add(key(slot));
            ObjectExtra extra = extra(slot);
            if (extra != null) {
                extra.digest(digest);
            }
        }
    }

    private void setFlags(int slot, int flags) {
        setPair(slot, 2, segment(slot), flags);
    }

    private long[] page(int slot) {
        return pages[slot >>> PAGE_BITS];
    }

    private static int at(int slot) {
        return (slot & PAGE_MASK) * STRIDE;
    }

    private int high(int slot, int field) {
        return (int) (page(slot)[at(slot) + field] >>> 32);
    }

    private int low(int slot, int field) {
        return (int) page(slot)[at(slot) + field];
    }

    private void setPair(int slot, int field, int high, int low) {
        page(slot)[at(slot) + field] = ((long) high << 32) | (low & LOW);
    }
}
