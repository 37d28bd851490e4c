/** Never a wrong byte: what many clients saw while processes were killed and stopped. */
@org.jspecify.annotations.NullMarked
package io.cassia.lab.history;
