/** Tests of the assemblies. */
@NullMarked
package io.cassia.app.cluster;

import org.jspecify.annotations.NullMarked;
