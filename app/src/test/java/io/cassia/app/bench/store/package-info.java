/** Tests of the store's bench. */
@org.jspecify.annotations.NullMarked
package io.cassia.app.bench.store;
