package io.cassia.datadist.exchange;

/** Hears of transfers that peers have begun, when they end. Called on one thread, in order. */
public interface TransferListener {
    void onTransfer(TransferEvent event);
}
