package io.cassia.datadist;

import io.cassia.base.Clock;
import io.cassia.datadist.memory.DataPlane;
import io.cassia.status.Outcome;
import io.cassia.transfer.TransferConfig;
import io.micrometer.core.instrument.MeterRegistry;

/** Starts the data plane of an instance. The seam for tests that stall, fail or count transfers. */
interface PlaneFactory {
    Outcome<DataPlane> start(TransferConfig config, Clock clock, MeterRegistry meters);
}
