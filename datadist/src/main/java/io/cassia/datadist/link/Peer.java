package io.cassia.datadist.link;

/**
 * What an instance says of itself. Immutable.
 *
 * @param clusterId its number
 * @param role its role at this moment
 * @param incarnation random number of this life of the instance
 * @param remoteAccess whether it has remote access to caches switched on; both ends have to agree
 * @param secureData whether its data plane asks for certificates and token; both ends have to agree
 * @param segmentName name under which the data plane finds its memory
 */
public record Peer(
        long clusterId,
        LlmRole role,
        long incarnation,
        boolean remoteAccess,
        boolean secureData,
        String segmentName) {
    private static final int MAX_NAME_CHARS = 512;

    WireWriter write(WireWriter out) {
        return out.i64(clusterId)
                .u8(role.number())
                .i64(incarnation)
                .flag(remoteAccess)
                .flag(secureData)
                .text(segmentName);
    }

    static Peer read(WireReader in) {
        long clusterId = in.i64();
        int role = in.u8();
        long incarnation = in.i64();
        boolean remoteAccess = in.flag();
        boolean secureData = in.flag();
        String segmentName = in.text();
        if (segmentName.length() > MAX_NAME_CHARS) {
            throw new WireReader.Malformed("a segment name of " + segmentName.length() + " chars");
        }
        return new Peer(
                clusterId,
                LlmRole.find(role)
                        .orElseThrow(() -> new WireReader.Malformed("role number " + role)),
                incarnation,
                remoteAccess,
                secureData,
                segmentName);
    }

    String idText() {
        return Long.toUnsignedString(clusterId);
    }
}
