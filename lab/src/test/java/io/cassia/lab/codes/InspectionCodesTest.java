package io.cassia.lab.codes;

import static io.cassia.lab.codes.MasterUnderTest.OTHER;
import static io.cassia.lab.codes.MasterUnderTest.TENANT;
import static io.cassia.lab.codes.MasterUnderTest.WRITER;
import static io.cassia.lab.codes.MasterUnderTest.segment;

import io.cassia.base.ByteString;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.master.MasterConfig;
import io.cassia.rpc.cassia.CassiaMessages.ListShard;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.StoreCode;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Codes of a master about its clients, segments and tables, over the RPC wire. */
class InspectionCodesTest {
    @Test
    @Covers(
            store = {StoreCode.SHARD_INDEX_OUT_OF_RANGE, StoreCode.OK},
            scenario = "The keys of a part of the master's table are listed that there is not.")
    void part_of_the_table_that_is_not(Coverage coverage) {
        try (MasterUnderTest master = new MasterUnderTest()) {
            coverage.expect(
                    master.call(CassiaMethods.LIST_SHARD, new ListShard(0, TENANT)), StoreCode.OK);
            coverage.expect(
                    master.call(CassiaMethods.LIST_SHARD, new ListShard(256, TENANT)),
                    StoreCode.SHARD_INDEX_OUT_OF_RANGE);
        }
    }

    @Test
    @Covers(
            store = {StoreCode.SEGMENT_ALREADY_EXISTS, StoreCode.OK},
            scenario = "A client mounts a segment under an id that another client uses.")
    void segment_id_of_another_client(Coverage coverage) {
        try (MasterUnderTest master = new MasterUnderTest()) {
            Args.MountSegment mine = new Args.MountSegment(segment(11, "a"), WRITER);
            Args.MountSegment theirs = new Args.MountSegment(segment(11, "a"), OTHER);
            coverage.expect(master.call(MasterMethods.MOUNT_SEGMENT, mine), StoreCode.OK);
            coverage.expect(master.call(MasterMethods.MOUNT_SEGMENT, mine), StoreCode.OK);
            coverage.expect(
                    master.call(MasterMethods.MOUNT_SEGMENT, theirs),
                    StoreCode.SEGMENT_ALREADY_EXISTS);
            coverage.expect(master.callPlain(MasterMethods.MOUNT_SEGMENT, theirs), StoreCode.OK);
        }
    }

    @Test
    @Covers(
            store = {StoreCode.CLIENT_NOT_FOUND, StoreCode.OK},
            scenario = "A client is looked up that has never pinged.")
    void client_that_never_pinged(Coverage coverage) {
        try (MasterUnderTest master = new MasterUnderTest()) {
            coverage.expect(master.call(CassiaMethods.CLIENTS, WRITER), StoreCode.CLIENT_NOT_FOUND);
            coverage.expect(master.call(MasterMethods.PING, WRITER), StoreCode.OK);
            coverage.expect(master.call(CassiaMethods.CLIENTS, WRITER), StoreCode.OK);
            coverage.expect(master.call(CassiaMethods.CLIENTS, new Uuid(0, 0)), StoreCode.OK);
        }
    }

    @Test
    @Covers(
            store = {StoreCode.INTERNAL_ERROR, StoreCode.OK},
            scenario = "More clients ping than the master may keep track of.")
    void too_many_clients(Coverage coverage) {
        try (MasterUnderTest master = new MasterUnderTest(MasterConfig.builder().limits(1, 1000))) {
            coverage.expect(master.call(MasterMethods.PING, WRITER), StoreCode.OK);
            coverage.expect(master.call(MasterMethods.PING, OTHER), StoreCode.INTERNAL_ERROR);
        }
    }

    @Test
    @Covers(
            store = StoreCode.INVALID_KEY,
            scenario = "An object is put under a key of more than 64 KiB.")
    void key_that_is_too_long(Coverage coverage) {
        try (MasterUnderTest master = new MasterUnderTest()) {
            coverage.expect(
                    master.call(
                            MasterMethods.PUT_START,
                            new Args.PutStart(
                                    WRITER,
                                    ByteString.wrap(new byte[1 << 16]),
                                    1,
                                    ReplicateConfig.DEFAULT,
                                    TENANT)),
                    StoreCode.INVALID_KEY);
        }
    }

    @Test
    @Covers(
            store = StoreCode.DFS_SERVICE_UNAVAILABLE,
            scenario = "A replica in a distributed file system is wanted that is not configured.")
    void absent_file_system(Coverage coverage) {
        ReplicateConfig withDfs =
                new ReplicateConfig(
                        1,
                        0,
                        1,
                        0,
                        OptionalLong.empty(),
                        false,
                        List.of(),
                        "",
                        List.of(),
                        false,
                        0,
                        "",
                        Optional.empty());
        try (MasterUnderTest master = new MasterUnderTest()) {
            coverage.expect(
                    master.start("k", withDfs, 10, TENANT), StoreCode.DFS_SERVICE_UNAVAILABLE);
        }
    }
}
