package io.cassia.master.core;

/**
 * How far an operation over all objects has come. Objects that are created while it runs are not
 * met. Immutable.
 *
 * @param slot next place to look at
 * @param newest newest replica that counts; 0 in the first slice, which sets it
 */
public record Cursor(int slot, long newest) {
    public static final Cursor START = new Cursor(1, 0);
}
