package io.cassia.lab.codes;

import static io.cassia.lab.codes.MasterUnderTest.WRITER;
import static io.cassia.lab.codes.MasterUnderTest.key;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.master.MasterConfig;
import io.cassia.rpc.cassia.CassiaMessages.SetTenantQuota;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Codes of tenants and their quotas, over the RPC wire. */
class TenantCodesTest {
    private static final ByteString TEAM = ByteString.of("team");

    @TempDir Path directory;

    private static MasterUnderTest master(Optional<Path> file) {
        MasterUnderTest master =
                new MasterUnderTest(
                        MasterConfig.builder().enableMultiTenants(true).tenantFile(file));
        master.mount(11, "a", WRITER);
        return master;
    }

    private static Outcome<?> quota(MasterUnderTest master, long bytes) {
        return master.call(CassiaMethods.SET_TENANT_QUOTA, new SetTenantQuota(TEAM, bytes));
    }

    private static Outcome<?> start(MasterUnderTest master, String key, long length) {
        return master.start(key, ReplicateConfig.DEFAULT, length, TEAM);
    }

    @Test
    @Covers(
            store = {StoreCode.TENANT_NOT_REGISTERED, StoreCode.OK},
            scenario = "A tenant writes before an administrator has given it a quota.")
    void tenant_without_a_quota(Coverage coverage) {
        try (MasterUnderTest master = master(Optional.empty())) {
            coverage.expect(start(master, "k", 10), StoreCode.TENANT_NOT_REGISTERED);
            coverage.expect(quota(master, 1000), StoreCode.OK);
            coverage.expect(start(master, "k", 10), StoreCode.OK);
        }
    }

    @Test
    @Covers(
            store = {StoreCode.TENANT_QUOTA_EXCEEDED, StoreCode.OK},
            scenario = "A tenant writes an object that is larger than its quota.")
    void object_beyond_the_quota(Coverage coverage) {
        try (MasterUnderTest master = master(Optional.empty())) {
            coverage.expect(quota(master, 1000), StoreCode.OK);
            coverage.expect(start(master, "small", 1000), StoreCode.OK);
            coverage.expect(master.end("small", TEAM), StoreCode.OK);
            coverage.expect(start(master, "large", 1001), StoreCode.TENANT_QUOTA_EXCEEDED);
            coverage.expect(
                    master.call(MasterMethods.GET_REPLICA_LIST, new Args.Key(key("small"), TEAM)),
                    StoreCode.OK);
        }
    }

    @Test
    @Covers(
            store = {StoreCode.TENANT_NOT_EMPTY, StoreCode.OK},
            scenario = "The quota of a tenant is deleted that still has objects.")
    void tenant_with_objects(Coverage coverage) {
        try (MasterUnderTest master = master(Optional.empty())) {
            coverage.expect(quota(master, 1000), StoreCode.OK);
            coverage.expect(start(master, "k", 10), StoreCode.OK);
            coverage.expect(
                    master.call(CassiaMethods.DELETE_TENANT_QUOTA, TEAM),
                    StoreCode.TENANT_NOT_EMPTY);
        }
    }

    @Test
    @Covers(
            store = {StoreCode.UNAVAILABLE_IN_CURRENT_MODE, StoreCode.OBJECT_NOT_FOUND},
            scenario = "A quota is set at a master without tenants; an unknown one is deleted.")
    void quotas_of_nobody(Coverage coverage) {
        try (MasterUnderTest plain = new MasterUnderTest();
                MasterUnderTest master = master(Optional.empty())) {
            coverage.expect(quota(plain, 1000), StoreCode.UNAVAILABLE_IN_CURRENT_MODE);
            coverage.expect(
                    master.call(CassiaMethods.DELETE_TENANT_QUOTA, TEAM),
                    StoreCode.OBJECT_NOT_FOUND);
        }
    }

    @Test
    @Covers(
            store = {StoreCode.PERSISTENT_FAIL, StoreCode.OK},
            scenario = "A quota is changed when the directory of the policy file is gone.")
    void policy_that_cannot_be_saved(Coverage coverage) throws IOException {
        Path file = Files.createDirectory(directory.resolve("etc")).resolve("tenants.yaml");
        Files.writeString(file, "version: 1\ntenants:\n  - name: team\n    quota: 1KB\n");
        try (MasterUnderTest master = master(Optional.of(file))) {
            coverage.expect(start(master, "k", 10), StoreCode.OK);
            coverage.expect(quota(master, 2048), StoreCode.OK);
            assertThat(Files.readString(file)).contains("2048");
            Files.delete(file);
            Files.delete(directory.resolve("etc"));
            coverage.expect(quota(master, 4096), StoreCode.PERSISTENT_FAIL);
            assertThat(
                            master.call(CassiaMethods.TENANT_QUOTAS, TEAM)
                                    .orThrow()
                                    .getFirst()
                                    .requestedBytes())
                    .as("taken back")
                    .isEqualTo(2048);
        }
    }

    private Outcome<?> startWith(Path file) {
        return MasterUnderTest.start(
                MasterConfig.builder().enableMultiTenants(true).tenantFile(Optional.of(file)));
    }

    @Test
    @Covers(
            store = {
                StoreCode.FILE_NOT_FOUND,
                StoreCode.FILE_READ_FAIL,
                StoreCode.DESERIALIZE_FAIL
            },
            scenario =
                    "A master starts with a tenant policy that is not there, is a directory, or is"
                            + " malformed.")
    void policy_that_cannot_be_read(Coverage coverage) throws IOException {
        coverage.expect(startWith(directory.resolve("none.yaml")), StoreCode.FILE_NOT_FOUND);
        coverage.expect(startWith(directory), StoreCode.FILE_READ_FAIL);
        Path bad = directory.resolve("bad.yaml");
        for (String text :
                new String[] {
                    "version: 2\n",
                    "version: 1\ntenants: [{name: a, quota: lots}]\n",
                    "version: 1\ntenants: [{name: a, quota: 1}, {name: a, quota: 2}]\n",
                    "version: [1\n"
                }) {
            Files.writeString(bad, text);
            coverage.expect(startWith(bad), StoreCode.DESERIALIZE_FAIL);
        }
    }
}
