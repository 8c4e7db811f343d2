import com.fasterxml.jackson.databind.JsonNode;
import java.io.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.common.protocol.*;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordJsonConverters;

/**
 * Reads what others wrote: lines like those of the fixtures. Kafka must read the bytes to the last, print the value that
 * the line tells, and write the same bytes again; its assignors must believe of a subscription what the line says. Prints a line for each that differs, and last how many there were.
 */
final class Check {
    private Check() { }

    static void run(InputStream input) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(input, StandardCharsets.UTF_8));
        int count = 0;
        int wrong = 0;
        for (String line; (line = lines.readLine()) != null; count++) {
            JsonNode told = Messages.JSON.readTree(line);
            String problem;
            try {
                problem = told.has("key_hex") ? record(told) : told.has("assignor") ? memberData(told) : message(told);
            } catch (Exception error) {
                problem = error.toString();
            }
            if (problem == null) continue;
            wrong++;
            System.out.println(Messages.JSON.createObjectNode().put("problem", problem).set("line", told));
        }
        System.out.println(Messages.JSON.createObjectNode().put("read", count).put("wrong", wrong));
    }

    private static String message(JsonNode told) throws Exception {
        short version = (short) told.get("version").intValue();
        Message message = Messages.make(told.get("message").textValue());
        ByteBuffer buffer = ByteBuffer.wrap(Messages.bytes(told.get("hex").textValue()));
        message.read(new ByteBufferAccessor(buffer), version);
        if (buffer.hasRemaining()) return buffer.remaining() + " bytes are left";
        String problem = same(told.get("value"), Messages.json(message, version));
        return problem != null ? problem : same(told.get("hex").textValue(), Messages.bytes(message, version));
    }

    private static String record(JsonNode told) throws Exception {
        byte[] value = told.get("value_hex").isNull() ? null : Messages.bytes(told.get("value_hex").textValue());
        GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
        CoordinatorRecord record = serde.deserialize(
            ByteBuffer.wrap(Messages.bytes(told.get("key_hex").textValue())), value == null ? null : ByteBuffer.wrap(value));
        String problem = same(told.get("key"), CoordinatorRecordJsonConverters.writeRecordKeyAsJson(record.key()));
        if (problem == null) problem = same(told.get("key_hex").textValue(), serde.serializeKey(record));
        if (problem != null || value == null) return problem;
        short version = record.value().version();
        if (version != told.get("version").intValue()) return "version " + version;
        problem = same(told.get("value"), CoordinatorRecordJsonConverters.writeRecordValueAsJson(record.value().message(), version));
        return problem != null ? problem : same(told.get("value_hex").textValue(), serde.serializeValue(record));
    }

    private static String memberData(JsonNode told) throws Exception {
        return same(told, UserData.believed(told.get("assignor").textValue(), Messages.bytes(told.get("hex").textValue())));
    }

    private static String same(JsonNode told, JsonNode printed) throws IOException {
        // Through text: Kafka's nodes know longs from ints, those of a parser do not.
        JsonNode read = Messages.JSON.readTree(printed.toString());
        return told.equals(read) ? null : "Kafka reads " + read;
    }

    private static String same(String hex, byte[] written) {
        return hex.equals(Messages.hex(written)) ? null : "Kafka writes " + Messages.hex(written);
    }
}
