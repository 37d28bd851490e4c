package io.cassia.datadist;

/**
 * What is to be known of an option. Immutable.
 *
 * @param key string key
 * @param standard value where none is given, in words
 * @param meaning what it does and takes
 * @param effective false: it is checked, and does nothing here
 */
public record OptionHelp(String key, String standard, String meaning, boolean effective) {}
