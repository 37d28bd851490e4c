/** Transfer Engines in processes of their own: killed, stopped, restarted. */
@NullMarked
package io.cassia.lab.engine;

import org.jspecify.annotations.NullMarked;
