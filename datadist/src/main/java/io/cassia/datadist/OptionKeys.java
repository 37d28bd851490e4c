package io.cassia.datadist;

import io.cassia.base.ByteString;
import io.cassia.datadist.memory.PoolConfig;
import io.cassia.datadist.memory.PoolJson;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Immutable. The string keys of options: the field's own and Cassia's. */
public final class OptionKeys {
    /** 2^31-1, the largest number of many options. */
    private static final long I32 = Integer.MAX_VALUE;

    private static final Map<String, Option> TABLE = table();

    private OptionKeys() {}

    /** Puts a value where it belongs. */
    private interface Setter {
        Outcome<Done> set(Draft draft, String value);
    }

    private record Option(OptionHelp help, Setter setter) {}

    /** Confined to one call. What has been read so far. */
    private static final class Draft {
        final DataDistOptions.Builder builder = DataDistOptions.builder();
        final TlsFiles tls = new TlsFiles();
        Optional<PoolConfig> totalPool = Optional.empty();
        boolean deviceId;
        boolean hixl;
        boolean listens;
        Optional<String> token = Optional.empty();
        String poolKey = "";
    }

    /** Every key with its default and meaning, in the order of the documentation. */
    public static List<OptionHelp> help() {
        return TABLE.values().stream().map(Option::help).toList();
    }

    static Outcome<DataDistOptions> parse(Map<String, String> options) {
        return parse(options, true);
    }

    /** Like {@link DataDistOptions#parse}; the device id is needed at the start only. */
    static Outcome<DataDistOptions> parse(Map<String, String> options, boolean needsDevice) {
        Draft draft = new Draft();
        List<String> unknown = new ArrayList<>();
        List<String> idle = new ArrayList<>();
        for (Map.Entry<String, String> entry : options.entrySet()) {
            Option option = TABLE.get(entry.getKey());
            if (option == null) {
                unknown.add(entry.getKey());
                continue;
            }
            if (!option.help().effective()) {
                idle.add(entry.getKey());
            }
            if (option.setter().set(draft, entry.getValue())
                    instanceof Outcome.Failed<Done> failed) {
                return failed.in("option " + entry.getKey());
            }
        }
        return finish(draft, needsDevice).map(ok -> draft.builder.keys(unknown, idle).build());
    }

    private static Outcome<Done> finish(Draft draft, boolean needsDevice) {
        if (needsDevice && !draft.deviceId) {
            return OptionValues.invalid("option llm.DeviceId is missing");
        }
        if (draft.hixl && !draft.listens) {
            return OptionValues.invalid(
                    "option llm.TransferBackend: hixl needs llm.ListenIpInfo too");
        }
        if (draft.poolKey.isEmpty()) {
            draft.totalPool.ifPresent(draft.builder::devicePool);
        }
        return apply(
                        draft.tls.credentials(draft.token.map(ByteString::of)),
                        draft.builder::credentials)
                .then(
                        ok ->
                                apply(
                                        draft.tls.dataSecurity(draft.token),
                                        draft.builder::dataSecurity));
    }

    private static Map<String, Option> table() {
        Table t = new Table();
        fieldKeys(t);
        plumbing(t);
        ownKeys(t);
        securityKeys(t);
        return t.options;
    }

    private static void fieldKeys(Table t) {
        Setter listen =
                (d, v) ->
                        OptionValues.listen(v)
                                .map(
                                        info -> {
                                            d.listens = true;
                                            d.builder.listen(info.host(), info.port());
                                            return Done.DONE;
                                        });
        t.add("llm.ListenIpInfo", "none", "ip:port to listen on; needed by a prompt", listen);
        t.add("llm.listenIpInfo", "none", "the same, as Python spells it", listen);
        Setter device =
                (d, v) ->
                        OptionValues.number(v, 0, I32)
                                .map(
                                        id -> {
                                            d.deviceId = true;
                                            return Done.DONE;
                                        });
        t.add("llm.DeviceId", "none", "device number; required, without further effect", device);
        t.add("ge.exec.deviceId", "none", "the same, as Python spells it", device);
        t.add("ge.session_device_id", "none", "the same, as Python spells it", device);
        t.add(
                "llm.SyncKvCacheWaitTime",
                "1000",
                "milliseconds for transfers, copies and checks",
                (d, v) -> apply(millis(v, 1), time -> d.builder.syncTimeout(time)));
        t.add(
                "llm.BufPoolCfg",
                "256 MiB at the first allocation",
                "JSON of the device-tagged pool, with size classes",
                (d, v) -> devicePool(d, "llm.BufPoolCfg", PoolJson.bufPool(v)));
        t.add(
                "llm.MemPoolConfig",
                "256 MiB at the first allocation",
                "JSON of the device-tagged pool, in pages",
                (d, v) -> devicePool(d, "llm.MemPoolConfig", PoolJson.memPool(v)));
        t.add(
                "llm.HostMemPoolConfig",
                "256 MiB at the first allocation",
                "JSON of the host pool, in pages",
                (d, v) -> apply(PoolJson.memPool(v), pool -> d.builder.hostPool(pool)));
        t.add(
                "ge.flowGraphMemMaxSize",
                "none",
                "bytes of the device-tagged pool where no JSON gives them",
                (d, v) ->
                        OptionValues.number(v, 1, Long.MAX_VALUE)
                                .then(PoolConfig::ofBytes)
                                .map(
                                        pool -> {
                                            d.totalPool = Optional.of(pool);
                                            return Done.DONE;
                                        }));
        t.add(
                "llm.EnableSwitchRole",
                "0",
                "1 allows setRole while roles gate",
                (d, v) -> apply(OptionValues.flag(v), on -> d.builder.switchRole(on)));
        t.add(
                "llm.EnableRemoteCacheAccessible",
                "1",
                "told to peers; both ends of a link have to agree",
                (d, v) -> apply(OptionValues.flag(v), on -> d.builder.remoteAccess(on)));
        t.add(
                "llm.LinkRetryCount",
                "1",
                "attempts to connect, 1..100; each has its share of the timeout",
                (d, v) ->
                        apply(
                                OptionValues.number(v, 1, 100),
                                n -> d.builder.linkRetryCount(n.intValue())));
        t.add(
                "llm.LocalCommRes",
                "none",
                "JSON of communication resources; its version 1.3 lifts the limit of 512 links",
                OptionKeys::localCommRes);
        t.add(
                "llm.TransferBackend",
                "classic",
                "only hixl is a value, and it needs llm.ListenIpInfo; the data path is the same",
                (d, v) -> {
                    d.hixl = v.equals("hixl");
                    return d.hixl
                            ? Outcome.done()
                            : OptionValues.invalid("'" + v + "' is not hixl");
                });
    }

    private static Outcome<Done> devicePool(Draft draft, String key, Outcome<PoolConfig> parsed) {
        if (!draft.poolKey.isEmpty()) {
            return OptionValues.invalid("stands beside " + draft.poolKey + ": only one pool");
        }
        draft.poolKey = key;
        return apply(parsed, draft.builder::devicePool);
    }

    private static Outcome<Done> localCommRes(Draft draft, String value) {
        return PoolJson.object(value)
                .then(
                        root -> {
                            String version = root.path("version").asString("1.0");
                            return switch (version) {
                                case "1.0", "1.2" -> Outcome.done();
                                case "1.3" -> {
                                    draft.builder.maxLinks(Integer.MAX_VALUE);
                                    yield Outcome.done();
                                }
                                default ->
                                        OptionValues.invalid(
                                                "version '" + version + "' is not 1.0, 1.2 or 1.3");
                            };
                        });
    }

    /** Known, checked where a rule is known, and without effect here. */
    private static void plumbing(Table t) {
        t.idle(
                "llm.EnableCacheManager",
                "0",
                "one engine has both modes",
                v -> done(OptionValues.flag(v)));
        t.idle(
                "llm.RdmaTrafficClass",
                "132",
                "0..255, a multiple of 4; of RDMA only",
                v -> done(OptionValues.number(v, 0, 255, n -> n % 4 == 0, "a multiple of 4")));
        t.idle(
                "llm.RdmaServiceLevel",
                "4",
                "0..7; of RDMA only",
                v -> done(OptionValues.number(v, 0, 7)));
        t.idle(
                "llm.LinkTotalTime",
                "0",
                "seconds for two-sided links, which there are none of",
                v -> done(OptionValues.number(v, 0, 0xFFFF_FFFFL)));
        t.idle(
                "llm.GlobalResourceConfig",
                "none",
                "JSON of another back end",
                v -> done(PoolJson.object(v)));
        t.idle("llm.MemoryUtilization", "0.95", "0..1; of devices only", OptionValues::fraction);
        for (String key :
                List.of(
                        "llm.Role",
                        "llm.ClusterInfo",
                        "llm.OutputMaxSize",
                        "llm.deployResPath",
                        "llm.ListenIp",
                        "llm.ListenPort")) {
            t.idle(key, "none", "legacy", v -> Outcome.done());
        }
    }

    private static void ownKeys(Table t) {
        t.add(
                "llm.RoleGating",
                "1",
                "0: any cluster may link, pull and push",
                (d, v) -> apply(OptionValues.flag(v), on -> d.builder.roleGating(on)));
        t.add(
                "llm.LinkChannels",
                "1",
                "operations of one kind at a time on a link, 1..64",
                (d, v) ->
                        apply(
                                OptionValues.number(v, 1, 64),
                                n -> d.builder.linkChannels(n.intValue())));
        t.add(
                "llm.HeartbeatMillis",
                "2000",
                "silence after which a peer is asked for a sign of life; three of them break a link",
                (d, v) -> apply(millis(v, 10), time -> d.builder.heartbeat(time, 3)));
        t.add(
                "llm.RelinkTries",
                "0",
                "attempts to make a broken link again",
                (d, v) ->
                        apply(
                                OptionValues.number(v, 0, 1_000_000),
                                n -> d.builder.relinkTries(n.intValue())));
        t.add(
                "llm.KeyTtlMillis",
                "none",
                "age at which a key that nobody pulled is removed",
                (d, v) -> apply(millis(v, 1), time -> d.builder.keyTtl(time)));
        t.add(
                "llm.KeyWaitMillis",
                "0",
                "how long pulls let the owner wait for a key that is not there yet",
                (d, v) -> apply(millis(v, 0), time -> d.builder.keyWait(time)));
        t.add(
                "llm.DisabledPools",
                "none",
                "device, host, or device,host: allocation from them is LLM_FEATURE_NOT_ENABLED",
                OptionKeys::disabledPools);
        t.add(
                "llm.DataTransports",
                "all",
                "what may carry bytes, of local,shm,process-vm,uds,tcp: the fastest that fits",
                (d, v) -> apply(OptionValues.transports(v), d.builder::transports));
        t.add(
                "llm.DataHost",
                "the address listened on",
                "address under which peers reach this side's memory",
                (d, v) ->
                        v.isBlank()
                                ? OptionValues.invalid("is empty")
                                : apply(Outcome.ok(v), d.builder::dataHost));
    }

    private static Outcome<Done> disabledPools(Draft draft, String value) {
        for (String pool : value.split(",", -1)) {
            switch (pool.strip()) {
                case "device" -> draft.builder.devicePool(PoolConfig.OFF);
                case "host" -> draft.builder.hostPool(PoolConfig.OFF);
                default -> {
                    return OptionValues.invalid("'" + pool + "' is neither device nor host");
                }
            }
        }
        return Outcome.done();
    }

    private static void securityKeys(Table t) {
        t.add(
                "llm.Token",
                "none",
                "shared secret that both ends of a link have to prove",
                (d, v) -> {
                    d.token = Optional.of(v);
                    return v.isEmpty() ? OptionValues.invalid("is empty") : Outcome.done();
                });
        t.add(
                "llm.ControlTls",
                "0",
                "1: TLS 1.3 with certificates of both ends on control connections",
                (d, v) -> OptionValues.flag(v).map(d.tls::enable));
        t.add(
                "llm.TlsKeyStore",
                "none",
                "PKCS12 file with this side's key",
                (d, v) -> Outcome.ok(d.tls.keyStore(v)));
        t.add(
                "llm.TlsTrustStore",
                "none",
                "PKCS12 file with the certificates that are trusted",
                (d, v) -> Outcome.ok(d.tls.trustStore(v)));
        t.add(
                "llm.TlsPassword",
                "empty",
                "password of both files",
                (d, v) -> Outcome.ok(d.tls.password(v)));
        t.add(
                "llm.TlsVerifyHost",
                "1",
                "0: a certificate need not name the host that was dialled",
                (d, v) -> OptionValues.flag(v).map(d.tls::verifyHost));
        t.add(
                "llm.DataTls",
                "0",
                "1: TLS 1.3 and the token on the data plane too; both ends of a link have to agree",
                (d, v) -> OptionValues.flag(v).map(d.tls::enableData));
    }

    private static Outcome<Duration> millis(String text, long min) {
        return OptionValues.number(text, min, I32).map(Duration::ofMillis);
    }

    private static <T> Outcome<Done> apply(Outcome<T> parsed, Consumer<? super T> use) {
        return parsed.map(
                value -> {
                    use.accept(value);
                    return Done.DONE;
                });
    }

    private static <T> Outcome<Done> done(Outcome<T> outcome) {
        return outcome.map(value -> Done.DONE);
    }

    /** Confined to the making of the table. */
    private static final class Table {
        final Map<String, Option> options = new LinkedHashMap<>();

        void add(String key, String standard, String meaning, Setter setter) {
            options.put(key, new Option(new OptionHelp(key, standard, meaning, true), setter));
        }

        void idle(String key, String standard, String meaning, Check check) {
            options.put(
                    key,
                    new Option(
                            new OptionHelp(key, standard, meaning, false),
                            (draft, value) -> check.check(value)));
        }
    }

    private interface Check {
        Outcome<Done> check(String value);
    }
}
