package io.cassia.lab.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;

/** The classes of all modules without their tests, read once. Immutable. */
final class ProductClasses {
    static final JavaClasses ALL =
            new ClassFileImporter()
                    .withImportOption(location -> !location.contains("/test-classes/"))
                    .importPackages("io.cassia");

    private ProductClasses() {}
}
