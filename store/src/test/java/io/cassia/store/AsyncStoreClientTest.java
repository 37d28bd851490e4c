package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.status.Outcome;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AsyncStoreClientTest {
    private static String signature(Method method) {
        return method.getName() + Arrays.toString(method.getParameterTypes());
    }

    private static Set<String> calls(Class<?> client) {
        Set<String> calls = new TreeSet<>();
        for (Method method : client.getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers())
                    && !Modifier.isStatic(method.getModifiers())
                    && !method.getName().equals("close")
                    && !method.getName().equals("async")) {
                calls.add(signature(method));
            }
        }
        return calls;
    }

    @Test
    void every_call_has_a_form_that_does_not_wait() {
        assertThat(calls(AsyncStoreClient.class)).isEqualTo(calls(StoreClient.class));
        assertThat(AsyncStoreClient.class.getDeclaredMethods())
                .filteredOn(method -> calls(StoreClient.class).contains(signature(method)))
                .allMatch(method -> method.getReturnType().equals(CompletionStage.class));
    }

    @Test
    void sessions_and_figures_come_as_stages() throws Exception {
        try (Cluster cluster = Cluster.start()) {
            StorageNode node = cluster.node(16 << 20);
            AsyncStoreClient client = cluster.client().async();
            ByteString key = ByteString.of("k");
            assertThat(get(client.put(key, new byte[100], PutOptions.DEFAULT)).isOk()).isTrue();
            assertThat(get(client.size(key))).isEqualTo(Outcome.ok(100L));
            assertThat(get(client.stats()).orThrow().capacityBytes())
                    .isEqualTo(node.capacityBytes());
            try (ReadSession session = get(client.openRead(List.of(key))).orThrow();
                    ObjectStream stream = get(client.openStream(key)).orThrow()) {
                assertThat(session.object(key).orThrow().sizeBytes()).isEqualTo(100);
                assertThat(stream.readAllBytes()).hasSize(100);
            }
        }
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }
}
