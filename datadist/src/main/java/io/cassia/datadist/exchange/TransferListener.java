package io.cassia.datadist.exchange;

/** Hears of transfers that peers have begun. Called on threads of the instance: has to be quick. */
public interface TransferListener {
    void onTransfer(TransferEvent event);
}
