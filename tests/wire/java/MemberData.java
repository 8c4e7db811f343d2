import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.clients.consumer.internals.*;
import org.apache.kafka.common.TopicPartition;

/**
 * What Kafka's sticky assignors believe of subscriptions in every version, with user data whole, cut, and lengthened.
 *
 *   java -cp "JARS/*" MemberData.java FOLDER     FOLDER/member-data.jsonl
 */
public class MemberData {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Random RANDOM = new Random(5);
    static final String[] TOPICS = {"foo", "orders", "größe", "Zebra"};

    public static void main(String[] args) throws Exception {
        List<ObjectNode> lines = new ArrayList<>();
        for (short version = 0; version <= 3; version++) {
            for (int round = 0; round < 40; round++) {
                for (var assignor : List.of(new StickyAssignor(), new CooperativeStickyAssignor())) {
                    lines.add(line(assignor, version, round));
                }
            }
        }
        Files.writeString(Path.of(args[0], "member-data.jsonl"), lines.stream().map(line -> line + "\n").collect(Collectors.joining()));
    }

    static ObjectNode line(AbstractStickyAssignor assignor, short version, int round) throws Exception {
        ByteBuffer data = altered(userData(assignor), round % 10);
        int generation = round % 3 == 0 ? -1 : RANDOM.nextInt(20);
        var subscription = new Subscription(List.of(TOPICS), data, partitions(), generation, Optional.of("a"));
        ByteBuffer bytes = ConsumerProtocol.serializeSubscription(subscription, version);
        ObjectNode line = JSON.createObjectNode();
        line.put("assignor", assignor.name());
        line.put("version", version);
        line.put("hex", HexFormat.of().formatHex(bytes.array()));
        Method method = assignor.getClass().getDeclaredMethod("memberData", Subscription.class);
        method.setAccessible(true);
        var believed = (AbstractStickyAssignor.MemberData) method.invoke(assignor, ConsumerProtocol.deserializeSubscription(bytes));
        ArrayNode partitions = line.putArray("partitions");
        believed.partitions.forEach(partition -> partitions.addArray().add(partition.topic()).add(partition.partition()));
        line.put("generation", believed.generation.orElse(null));
        return line;
    }

    static ByteBuffer userData(AbstractStickyAssignor assignor) {
        if (RANDOM.nextInt(6) > 0) {
            assignor.onAssignment(new Assignment(partitions()), new ConsumerGroupMetadata("group", RANDOM.nextInt(20), "member", Optional.empty()));
        }
        return assignor.subscriptionUserData(Set.of(TOPICS));
    }

    /** As it was; without its end (version 0 of sticky's, if it was 4 bytes); with more behind it; a byte of it changed. */
    static ByteBuffer altered(ByteBuffer data, int how) {
        if (data == null || how < 3) return data;
        byte[] bytes = data.array();
        if (how == 3) return ByteBuffer.allocate(0);
        if (how < 7) return ByteBuffer.wrap(Arrays.copyOf(bytes, bytes.length - 4 + new int[] {0, 3, 4 - bytes.length / 2}[how - 4]));
        if (how < 9) return ByteBuffer.wrap(Arrays.copyOf(bytes, bytes.length + RANDOM.nextInt(8)));
        // Counts and lengths, not the letters of a topic: what is not UTF-8 is another matter.
        bytes[RANDOM.nextInt(Math.min(bytes.length, 6))] = (byte) RANDOM.nextInt(256);
        return ByteBuffer.wrap(bytes);
    }

    static List<TopicPartition> partitions() {
        return IntStream.range(0, RANDOM.nextInt(5)).mapToObj(i -> new TopicPartition(TOPICS[RANDOM.nextInt(TOPICS.length)], i)).toList();
    }
}
