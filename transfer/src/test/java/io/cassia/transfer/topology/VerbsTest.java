package io.cassia.transfer.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerbsTest {
    @TempDir private Path root;

    @Test
    void devices_are_listed_and_the_list_is_given_back() {
        try (FakeVerbs fake = new FakeVerbs("mlx5_0", "irdma1")) {
            assertThat(fake.library().deviceNames())
                    .isEqualTo(Outcome.ok(List.of("mlx5_0", "irdma1")));
            assertThat(fake.openLists).isZero();
        }
    }

    @Test
    void an_opened_device_is_closed_once() {
        try (FakeVerbs fake = new FakeVerbs("mlx5_0", "mlx5_1")) {
            Verbs.Context context = fake.library().open("mlx5_1").orThrow();
            assertThat(context.device()).isEqualTo("mlx5_1");
            assertThat(fake.openContexts).isOne();
            context.close();
            context.close();
            assertThat(fake.openContexts).isZero();
            assertThat(fake.openLists).isZero();
        }
    }

    @Test
    void a_device_that_is_not_listed_is_not_found() {
        try (FakeVerbs fake = new FakeVerbs("mlx5_0")) {
            assertThat(fake.library().open("mlx5_9"))
                    .isEqualTo(
                            Outcome.failed(
                                    TransferCode.ERR_DEVICE_NOT_FOUND,
                                    "RDMA device mlx5_9: libibverbs knows [mlx5_0]"));
        }
    }

    @Test
    void one_device_that_cannot_be_opened_closes_the_others() {
        FakeHost host = FakeHost.twoSockets(root);
        try (FakeVerbs fake = new FakeVerbs("mlx5_0", "mlx5_1", "mlx5_2")) {
            fake.refused.add("mlx5_2");
            Verbs library = fake.library();
            Outcome<RdmaContexts> outcome =
                    RdmaContexts.open(
                            Optional.of(library), host.discover(library), DeviceFilter.ALL);
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> {
                                assertThat(failed.code()).isEqualTo(TransferCode.ERR_CONTEXT);
                                assertThat(failed.detail())
                                        .startsWith("RDMA device mlx5_2 cannot be opened");
                            });
            assertThat(fake.opened).containsExactly("mlx5_0", "mlx5_1");
            assertThat(fake.openContexts).isZero();
        }
    }

    @Test
    void allowed_devices_are_opened() {
        FakeHost host = FakeHost.twoSockets(root);
        try (FakeVerbs fake = new FakeVerbs("mlx5_0", "mlx5_1", "mlx5_2")) {
            Verbs library = fake.library();
            try (RdmaContexts contexts =
                    RdmaContexts.open(
                                    Optional.of(library),
                                    host.discover(library),
                                    DeviceFilter.parse("mlx5_1,mlx5_2"))
                            .orThrow()) {
                assertThat(contexts.devices()).containsExactly("mlx5_1", "mlx5_2");
            }
            assertThat(fake.openContexts).isZero();
        }
    }

    /** With the real library: a device that does not exist, whatever this host has. */
    @Test
    void the_real_library_knows_no_device_of_a_made_up_name() {
        Optional<Verbs> verbs = Verbs.load();
        Assumptions.assumeTrue(verbs.isPresent(), "libibverbs is not installed");
        assertThat(verbs.orElseThrow().open("no-such-device").isOk()).isFalse();
    }
}
