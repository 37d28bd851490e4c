package io.cassia.lab.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.tngtech.archunit.lang.ArchRule;
import io.cassia.base.Clock;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.status.Outcome;
import io.cassia.store.StoreClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The architecture is visible from the folder names, and nothing crosses it. */
class ModuleMapTest {
    @ParameterizedTest
    @EnumSource(ModuleMap.class)
    void module_knows_only_what_the_map_allows(ModuleMap module) {
        arrows(module.packages(), module.forbidden()).check(ProductClasses.ALL);
    }

    @Test
    void every_class_is_in_a_module_of_the_map() {
        classes()
                .that()
                .resideInAPackage("io.cassia..")
                .should()
                .resideInAnyPackage(ModuleMap.allPackages())
                .check(ProductClasses.ALL);
    }

    @Test
    void status_knows_nothing_but_the_jdk() {
        classes()
                .that()
                .resideInAPackage(ModuleMap.STATUS.packages())
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        ModuleMap.STATUS.packages(),
                        "java..",
                        "org.jspecify.annotations..",
                        "com.google.errorprone.annotations..")
                .check(ProductClasses.ALL);
    }

    @Test
    void map_has_no_cycle() {
        for (ModuleMap module : ModuleMap.values()) {
            assertThat(module.uses())
                    .as("modules that %s uses stand before it", module)
                    .allSatisfy(used -> assertThat(used).isLessThan(module));
        }
    }

    @Test
    void rule_sees_the_modules_and_finds_a_forbidden_arrow() {
        assertThat(ProductClasses.ALL.contain(Outcome.class)).isTrue();
        assertThat(ProductClasses.ALL.contain(Clock.class)).isTrue();
        assertThat(ProductClasses.ALL.contain(Segment.class)).isTrue();
        assertThat(ProductClasses.ALL.contain(StoreClient.class)).isTrue();
        assertThat(ProductClasses.ALL.contain(ModuleMapTest.class)).isFalse();
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(
                        () ->
                                arrows(
                                                ModuleMap.STORE.packages(),
                                                new String[] {ModuleMap.STATUS.packages()})
                                        .check(ProductClasses.ALL))
                .withMessageContaining("io.cassia.store.StoreClient");
    }

    private static ArchRule arrows(String from, String[] forbidden) {
        return noClasses()
                .that()
                .resideInAPackage(from)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(forbidden)
                .allowEmptyShould(true);
    }
}
