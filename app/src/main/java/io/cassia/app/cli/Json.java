package io.cassia.app.cli;

import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * JSON of plain maps, lists, texts, numbers and booleans: data binding would cost a short command
 * more time to start than the rest of it. Immutable.
 */
final class Json {
    private Json() {}

    /** A map in the given order: name, value, name, value. */
    static Map<String, Object> object(Object... members) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < members.length; i += 2) {
            object.put((String) members[i], members[i + 1]);
        }
        return object;
    }

    /** One line. */
    static String text(Object value) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json =
                new JsonFactory().createGenerator(ObjectWriteContext.empty(), text)) {
            write(json, value);
        }
        return text.toString();
    }

    private static void write(JsonGenerator json, Object value) {
        switch (value) {
            case Map<?, ?> object -> {
                json.writeStartObject();
                object.forEach(
                        (name, member) -> {
                            json.writeName((String) name);
                            write(json, member);
                        });
                json.writeEndObject();
            }
            case Iterable<?> array -> {
                json.writeStartArray();
                array.forEach(item -> write(json, item));
                json.writeEndArray();
            }
            case String string -> json.writeString(string);
            case Integer number -> json.writeNumber(number);
            case Long number -> json.writeNumber(number);
            case Double number -> json.writeNumber(number);
            case Boolean bool -> json.writeBoolean(bool);
            case Null none -> json.writeNull();
            default -> throw new IllegalArgumentException("no JSON for " + value.getClass());
        }
    }

    /** An explicit null, for a figure that is not known. */
    enum Null {
        NULL
    }
}
