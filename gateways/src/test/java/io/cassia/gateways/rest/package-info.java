/** Tests of the REST service: real HTTP against a cluster in this process. */
@org.jspecify.annotations.NullMarked
package io.cassia.gateways.rest;
