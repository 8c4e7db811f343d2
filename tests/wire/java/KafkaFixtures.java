import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.*;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.protocol.*;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.*;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * What Kafka's own classes write, as JSON lines for tests/wire; and what they read of what others write.
 *
 *   KafkaFixtures write FOLDER     one file for each of what is written here
 *   KafkaFixtures read  < LINES    a batch in hex a line; its records as JSON a line
 *   KafkaFixtures check < LINES    lines like those of the fixtures; what Kafka reads otherwise
 */
public final class KafkaFixtures {
    private static final int RECORDS_A_VERSION = 100;
    private static final int BLOBS_A_VERSION = 60;
    private static final int MESSAGES_A_VERSION = 40;

    private KafkaFixtures() { }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "read" -> Batches.read();
            case "check" -> Check.run(System.in);
            default -> write(Path.of(args[1]));
        }
    }

    private static void write(Path folder) throws Exception {
        JsonLines.save(folder, "records", records());
        JsonLines.save(folder, "embedded", embedded());
        UserData userData = new UserData();
        JsonLines.save(folder, "user-data", userData.written);
        JsonLines.save(folder, "member-data", userData.believed);
        JsonLines.save(folder, "rpcs", rpcs());
        JsonLines.save(folder, "metadata", ClusterMetadata.records());
        JsonLines.save(folder, "hashes", ClusterMetadata.hashes());
        JsonLines.save(folder, "batches", Batches.lines());
    }

    /** Every type, every version of its value, many values each, and a tombstone; by the coordinator's own serde. */
    private static List<ObjectNode> records() throws Exception {
        List<ObjectNode> lines = new ArrayList<>();
        for (CoordinatorRecordType type : CoordinatorRecordType.values()) {
            for (short version = type.lowestSupportedVersion(); version <= type.highestSupportedVersion(); version++) {
                Values values = Values.of(type.name(), version);
                for (int round = 0; round < RECORDS_A_VERSION; round++) {
                    // Keys carry no tagged section.
                    ApiMessage key = values.fill(type.newRecordKey(), (short) 0, round == 0 ? Values.Mood.DEFAULTS : Values.Mood.ANY);
                    ApiMessage value = values.fill(type.newRecordValue(), version, Values.mood(round));
                    lines.add(record(type, CoordinatorRecord.record(key, new ApiMessageAndVersion(value, version))));
                }
            }
            ApiMessage key = Values.of(type.name(), -1).fill(type.newRecordKey(), (short) 0, Values.Mood.ANY);
            lines.add(record(type, CoordinatorRecord.tombstone(key)));
        }
        return lines;
    }

    private static ObjectNode record(CoordinatorRecordType type, CoordinatorRecord record) {
        GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
        ObjectNode line = Messages.JSON.createObjectNode();
        line.put("type", type.id());
        line.put("key_hex", Messages.hex(serde.serializeKey(record)));
        line.set("key", CoordinatorRecordJsonConverters.writeRecordKeyAsJson(record.key()));
        ApiMessageAndVersion value = record.value();
        if (value == null) {
            line.putNull("value_hex");
            line.putNull("version");
            line.putNull("value");
            return line;
        }
        line.put("value_hex", Messages.hex(serde.serializeValue(record)));
        line.put("version", value.version());
        line.set("value", CoordinatorRecordJsonConverters.writeRecordValueAsJson(value.message(), value.version()));
        return line;
    }

    /** In every version; and as a later version may write them, which Kafka's consumer reads as the last that it knows. */
    private static List<ObjectNode> embedded() throws Exception {
        List<ObjectNode> lines = new ArrayList<>();
        for (String name : List.of("ConsumerProtocolSubscription", "ConsumerProtocolAssignment")) {
            short newest = Messages.make(name).highestSupportedVersion();
            for (short version = 0; version <= newest; version++) {
                Values values = Values.of(name, version);
                for (int round = 0; round < BLOBS_A_VERSION; round++) {
                    Message message = values.fill(Messages.make(name), version, Values.mood(round));
                    lines.add(blob(name, MessageUtil.toVersionPrefixedBytes(version, message), message, version));
                }
            }
            Values values = Values.of(name, newest + 1);
            for (int round = 0; round < BLOBS_A_VERSION; round++) {
                byte[] body = Messages.bytes(values.fill(Messages.make(name), newest, Values.mood(round)), newest);
                byte[] appended = values.bytes(values.random.nextInt(8));
                int later = round == 0 ? Short.MAX_VALUE : newest + 1 + values.random.nextInt(10);
                ByteBuffer buffer = ByteBuffer.allocate(2 + body.length + appended.length).putShort((short) later).put(body).put(appended).flip();
                lines.add(blob(name, buffer.array(), read(name, buffer), newest));
            }
        }
        return lines;
    }

    private static Message read(String name, ByteBuffer buffer) {
        return name.endsWith("Assignment")
            ? ConsumerProtocol.deserializeConsumerProtocolAssignment(buffer)
            : ConsumerProtocol.deserializeConsumerProtocolSubscription(buffer);
    }

    private static ObjectNode blob(String name, byte[] bytes, Message message, short version) throws ReflectiveOperationException {
        ObjectNode line = Messages.JSON.createObjectNode();
        line.put("message", name);
        line.put("hex", Messages.hex(bytes));
        line.set("value", Messages.json(message, version));
        return line;
    }

    /** Headers, requests and responses, in every version that the release has. */
    private static List<ObjectNode> rpcs() throws ReflectiveOperationException {
        List<ObjectNode> lines = new ArrayList<>();
        List<String> names = new ArrayList<>(List.of("RequestHeader", "ResponseHeader"));
        for (String api : Messages.APIS) names.addAll(List.of(api + "Request", api + "Response"));
        for (String name : names) {
            Message message = Messages.make(name);
            lines.addAll(Messages.lines(name, message.lowestSupportedVersion(), message.highestSupportedVersion(), MESSAGES_A_VERSION));
        }
        return lines;
    }
}
