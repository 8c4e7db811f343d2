import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.common.protocol.*;

/** Kafka's generated messages by name: what they write, and how its own converters print them. */
final class Messages {
    static final ObjectMapper JSON = new ObjectMapper();

    /** The requests and responses of groups, and what asks for a coordinator and for versions. */
    static final List<String> APIS = List.of(
        "ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit",
        "OffsetFetch", "ListGroups", "DescribeGroups", "FindCoordinator", "ApiVersions", "ShareGroupHeartbeat", "ShareGroupDescribe",
        "StreamsGroupHeartbeat", "StreamsGroupDescribe", "DeleteGroups", "OffsetDelete", "TxnOffsetCommit",
        "DescribeConfigs", "IncrementalAlterConfigs");

    private static final List<String> CLASSES = List.of(
        "org.apache.kafka.common.message.%sData", "org.apache.kafka.common.message.%s",
        "org.apache.kafka.coordinator.group.generated.%s", "org.apache.kafka.streams.internals.generated.%sData");

    private Messages() { }

    /** An empty message: {@code JoinGroupRequest}, {@code ConsumerProtocolAssignment}, {@code OffsetCommitKey}. */
    static Message make(String name) throws ReflectiveOperationException {
        for (String pattern : CLASSES) {
            try {
                return (Message) Class.forName(pattern.formatted(name)).getDeclaredConstructor().newInstance();
            } catch (ClassNotFoundException missing) {
                // It is in another package, or not in this release.
            }
        }
        throw new ClassNotFoundException("no message " + name);
    }

    static byte[] bytes(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return buffer.array();
    }

    static JsonNode json(Message message, short version) throws ReflectiveOperationException {
        Class<?> converter = Class.forName(message.getClass().getName() + "JsonConverter");
        try {
            return (JsonNode) converter.getMethod("write", message.getClass(), short.class).invoke(null, message, version);
        } catch (InvocationTargetException thrown) {
            throw new IllegalStateException(message.getClass() + " v" + version + " cannot be printed", thrown.getCause());
        }
    }

    /** Values of a message, so many for each of the versions. */
    static List<ObjectNode> lines(String name, int lowest, int highest, int each) throws ReflectiveOperationException {
        List<ObjectNode> lines = new ArrayList<>();
        for (short version = (short) lowest; version <= highest; version++) {
            Values values = Values.of(name, version);
            for (int round = 0; round < each; round++) {
                lines.add(line(name, version, values.fill(make(name), version, Values.mood(round))));
            }
        }
        return lines;
    }

    static ObjectNode line(String name, short version, Message message) throws ReflectiveOperationException {
        ObjectNode line = JSON.createObjectNode();
        line.put("message", name);
        line.put("version", version);
        line.put("hex", hex(bytes(message, version)));
        line.set("value", json(message, version));
        return line;
    }

    static String hex(byte[] bytes) { return HexFormat.of().formatHex(bytes); }

    static byte[] bytes(String hex) { return HexFormat.of().parseHex(hex); }
}
