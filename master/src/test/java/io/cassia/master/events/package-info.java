/** Tests of the events of objects. */
@NullMarked
package io.cassia.master.events;

import org.jspecify.annotations.NullMarked;
