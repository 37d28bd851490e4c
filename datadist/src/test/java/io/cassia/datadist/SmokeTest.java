package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.cache.*;
import io.cassia.datadist.exchange.*;
import io.cassia.datadist.link.*;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SmokeTest {
    @Test
    void pulls() {
        try (Clusters clusters = new Clusters()) {
            LlmDataDist p = clusters.start(1, LlmRole.PROMPT, Clusters.TCP, o -> o.listen("127.0.0.1", 0));
            LlmDataDist d = clusters.start(2, LlmRole.DECODER, Clusters.TCP, o -> o);
            CacheDesc desc = CacheDesc.device(4, DataType.INT32, 8, 16);
            Cache src = p.allocateCache(desc, List.of(CacheKey.request(1, 7))).orThrow();
            Cache dst = d.allocateCache(desc).orThrow();
            Clusters.fill(src, 1);
            Clusters.link(d, p);
            System.out.println(d.pullCache(CacheKey.request(1, 7), dst));
            System.out.println(d.pullCache(CacheKey.request(1, 7), dst));
            System.out.println(d.pullBlocks(new CacheIndex(1, src.cacheId()), dst, new long[]{1,2,5}, new long[]{3,4,0}));
            System.out.println(d.checkLinkStatus(1));
            assertThat(p.pushCache(src, new CacheIndex(2, dst.cacheId(), 3), 0, TransferOptions.DEFAULT).isOk()).isTrue();
            System.out.println(p.pushCache(src, new CacheIndex(2, dst.cacheId(), 3), 0, TransferOptions.DEFAULT));
            System.out.println(p.pollTransferEvents(10));
            System.out.println(d.pollTransferEvents(10));
            System.out.println(d.links());
            System.out.println(d.unlinkClusters(List.of(Clusters.at(p))));
            System.out.println(p.links());
        }
    }
}
