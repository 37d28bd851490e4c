package io.cassia.transfer.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.transfer.metadata.HostAccess;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ProofTest {
    private static final byte[] SECRET = {1, 2, 3, 4};
    private static final Proof.Claim CLAIM = new Proof.Claim("segment", 15000, "realm");
    private static final HostAccess PLAIN =
            new HostAccess("boot", 1, 2, "cassia-1-1", List.of("shm", "uds"), "");
    private static final HostAccess PROVEN = PLAIN.withProof(Proof.of(PLAIN, CLAIM, SECRET));

    private static boolean isBorneOut(HostAccess access) {
        return Proof.isBorneOut(access, CLAIM, SECRET);
    }

    @Test
    void proof_holds_for_what_it_was_made_for() {
        assertThat(isBorneOut(PROVEN)).isTrue();
        assertThat(PROVEN.proof()).hasSize(64);
        assertThat(Proof.of(PROVEN, CLAIM, SECRET)).isEqualTo(PROVEN.proof());
    }

    @Test
    void proof_holds_for_no_other_access() {
        String proof = PROVEN.proof();
        List<String> both = PLAIN.transports();
        List<HostAccess> others =
                List.of(
                        PLAIN,
                        PLAIN.withProof(proof.substring(1)),
                        new HostAccess("other", 1, 2, "cassia-1-1", both, proof),
                        new HostAccess("boot", 3, 2, "cassia-1-1", both, proof),
                        new HostAccess("boot", 1, 3, "cassia-1-1", both, proof),
                        new HostAccess("boot", 1, 2, "cassia-1-2", both, proof),
                        new HostAccess("boot", 1, 2, "cassia-1-1", List.of("shm"), proof));
        assertThat(others).noneMatch(ProofTest::isBorneOut);
    }

    @Test
    void proof_holds_for_no_other_segment_port_realm_or_secret() {
        List<Proof.Claim> others =
                List.of(
                        new Proof.Claim("other", 15000, "realm"),
                        new Proof.Claim("segment", 15001, "realm"),
                        new Proof.Claim("segment", 15000, ""));
        assertThat(others).noneMatch(claim -> Proof.isBorneOut(PROVEN, claim, SECRET));
        assertThat(Proof.isBorneOut(PROVEN, CLAIM, new byte[] {1, 2, 3, 5})).isFalse();
    }
}
