/** LLM-DataDist with real processes: who stops, who dies, who comes back. */
@org.jspecify.annotations.NullMarked
package io.cassia.lab.datadist;
