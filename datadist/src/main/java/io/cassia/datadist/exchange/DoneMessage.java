package io.cassia.datadist.exchange;

import io.cassia.base.ByteString;
import io.cassia.datadist.link.StatusMessage;
import io.cassia.datadist.link.WireReader;
import io.cassia.datadist.link.WireWriter;
import io.cassia.status.Done;
import io.cassia.status.Outcome;

/**
 * The reader has ended. Immutable.
 *
 * @param leaseId number of the grant
 * @param bytes bytes read
 * @param requests contiguous ranges that they were read in
 * @param outcome how it went
 */
record DoneMessage(long leaseId, long bytes, long requests, Outcome<Done> outcome) {
    ByteString encode() {
        WireWriter out = new WireWriter().varint(leaseId).varint(bytes).varint(requests);
        return StatusMessage.write(out, outcome).toBody();
    }

    static DoneMessage decode(ByteString body) {
        WireReader in = new WireReader(body);
        return new DoneMessage(in.varint(), in.varint(), in.varint(), StatusMessage.read(in));
    }
}
