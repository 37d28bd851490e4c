/** Tests of the store. */
@org.jspecify.annotations.NullMarked
package io.cassia.store;
