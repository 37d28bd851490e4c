package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.Running;
import io.cassia.base.Clock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the README shows is what works. */
class ReadmeTest {
    private static final Path ROOT = Path.of(System.getProperty("cassia.root", "."));
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern COMMAND =
            Pattern.compile("^\\./cassia ([a-z-]+)(.*?)(?:#.*|[|].*)?$", Pattern.MULTILINE);

    @TempDir Path dir;

    private static String readme() throws IOException {
        return Files.readString(ROOT.resolve("README.md"));
    }

    @Test
    void the_java_example_compiles_and_runs() throws Exception {
        Matcher block = JAVA.matcher(readme());
        assertThat(block.find()).isTrue();
        try (Running cluster =
                RealCluster.start(Backend.real(Clock.system(), Map.of()), 16L << 20)) {
            String source =
                    block.group(1)
                            .replace("127.0.0.1:50051", cluster.master())
                            .replace("http://127.0.0.1:8080/metadata", cluster.metadata());
            compile(source);
            assertThat(runHello()).isEqualTo("Hello, KV cache\n");
        }
    }

    private void compile(String source) throws IOException {
        Path file = Files.writeString(dir.resolve("Hello.java"), source);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter problems = new StringWriter();
        try (StandardJavaFileManager files =
                compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            boolean compiled =
                    compiler.getTask(
                                    problems,
                                    files,
                                    null,
                                    List.of(
                                            "-d",
                                            dir.toString(),
                                            "-proc:none",
                                            "-cp",
                                            System.getProperty("java.class.path")),
                                    null,
                                    files.getJavaFileObjects(file))
                            .call();
            assertThat(compiled).as(problems.toString()).isTrue();
        }
    }

    private String runHello() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream before = System.out;
        try (URLClassLoader classes = new URLClassLoader(new URL[] {dir.toUri().toURL()})) {
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            classes.loadClass("Hello")
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) new String[0]);
        } catch (InvocationTargetException e) {
            throw new AssertionError("the example failed", e.getCause());
        } finally {
            System.setOut(before);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void every_command_line_shown_is_accepted() throws IOException {
        Matcher command = COMMAND.matcher(readme());
        int lines = 0;
        while (command.find()) {
            String line = (command.group(1) + command.group(2)).strip() + " --help";
            CliRun run = CliRun.of(new FakeBackend(), line.split(" +", -1));
            assertThat(run.exit()).as(line + ": " + run.err()).isZero();
            lines++;
        }
        assertThat(lines).isGreaterThan(12);
    }
}
