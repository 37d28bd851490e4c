package io.cassia.lab.architecture;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/**
 * The modules and the arrows between them, as {@code docs/architecture.md} draws them. Immutable. A
 * new arrow is a decision record in {@code docs/adr} first.
 */
enum ModuleMap {
    STATUS,
    BASE,
    RPC,
    TRANSFER,
    TIERS,
    MASTER,
    STORE,
    DATADIST,
    GATEWAYS,
    APP,
    TESTKIT,
    LAB;

    /** The arrows: the modules that this one may know. */
    Set<ModuleMap> uses() {
        return switch (this) {
            case STATUS -> Set.of();
            case BASE -> Set.of(STATUS);
            case RPC, TRANSFER, TIERS, TESTKIT -> Set.of(BASE, STATUS);
            case MASTER -> Set.of(RPC, BASE, STATUS);
            case STORE -> Set.of(TIERS, RPC, TRANSFER, BASE, STATUS);
            case DATADIST -> Set.of(TRANSFER, BASE, STATUS);
            case GATEWAYS -> Set.of(STORE, BASE, STATUS);
            case APP -> EnumSet.range(STATUS, GATEWAYS);
            case LAB -> EnumSet.range(STATUS, TESTKIT);
        };
    }

    /** The ArchUnit pattern of its packages. */
    String packages() {
        return "io.cassia." + name().toLowerCase(Locale.ROOT) + "..";
    }

    boolean isProduct() {
        return this != TESTKIT && this != LAB;
    }

    /** The packages of all modules that this one must not know. */
    String[] forbidden() {
        Set<ModuleMap> forbidden = new HashSet<>(Arrays.asList(values()));
        forbidden.removeAll(uses());
        forbidden.remove(this);
        return forbidden.stream().map(ModuleMap::packages).sorted().toArray(String[]::new);
    }

    static String[] allPackages() {
        return Arrays.stream(values()).map(ModuleMap::packages).toArray(String[]::new);
    }
}
