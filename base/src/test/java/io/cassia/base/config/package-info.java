/** Tests of settings and their loader. */
@org.jspecify.annotations.NullMarked
package io.cassia.base.config;
