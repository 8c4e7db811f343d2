import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor.MemberData;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.types.*;

/**
 * The user data of the sticky assignors: what they write after an assignment, and what they take a member to own when they
 * read a subscription, with data that is whole, of an older form, cut short, followed by more, or none at all.
 */
final class UserData {
    private static final int ROUNDS = 120;
    private static final List<String> ASSIGNORS = List.of("sticky", "cooperative-sticky");

    /** What the assignors write. */
    final List<ObjectNode> written = new ArrayList<>();

    /** What they read: a subscription in bytes, and what they believe of it. */
    final List<ObjectNode> believed = new ArrayList<>();

    private final Values values = new Values(7);

    UserData() throws ReflectiveOperationException {
        for (int round = 0; round < ROUNDS; round++) round(round);
    }

    private void round(int round) throws ReflectiveOperationException {
        List<TopicPartition> owned = partitions(round);
        int generation = round == 0 ? -1 : round == 1 ? Integer.MAX_VALUE : round == 2 ? Integer.MIN_VALUE : values.random.nextInt(2000);
        byte[] sticky = stickyVersion1(owned, generation);
        byte[] older = stickyVersion0(owned);
        byte[] cooperative = cooperative(owned, generation);
        tell("sticky", 1, owned, generation, sticky);
        tell("sticky", 0, owned, null, older);
        tell("cooperative-sticky", 0, List.of(), generation, cooperative);

        byte[] cut = Arrays.copyOf(sticky, values.random.nextInt(sticky.length));
        byte[] longer = Arrays.copyOf(sticky, sticky.length + 1 + values.random.nextInt(8));
        byte[] olderLonger = Arrays.copyOf(older, older.length + 1 + values.random.nextInt(8));
        // Counts and lengths, not the letters of a topic: what is no UTF-8 is another matter.
        byte[] changed = sticky.clone();
        changed[values.random.nextInt(Math.min(changed.length, 6))] = (byte) values.random.nextInt(256);
        byte[][] all = {sticky, older, cooperative, cut, longer, olderLonger, changed, values.bytes(values.random.nextInt(8)), {}, null};
        for (int each = 0; each < all.length; each++) {
            // A generation of the subscription's own goes before that of the data, in versions that have it.
            int own = values.random.nextInt(3) == 0 ? values.random.nextInt(20) : -1;
            var subscription = new Subscription(
                List.of("foo", "größe"), all[each] == null ? null : ByteBuffer.wrap(all[each]), partitions(values.random.nextInt(4)), own, Optional.of("a"));
            ByteBuffer bytes = ConsumerProtocol.serializeSubscription(subscription, (short) values.random.nextInt(4));
            believed.add(believed(ASSIGNORS.get((round + each) % 2), array(bytes)));
        }
    }

    /** As an assignment to a member names them: in any order, topics apart from each other. */
    private List<TopicPartition> partitions(int round) {
        List<TopicPartition> owned = new ArrayList<>();
        for (int topic = 0; topic < round % 4; topic++) {
            String name = topic == 0 ? "t" + values.word() : topic == 1 ? "größe" : "\uD83D\uDE00" + topic;
            int count = round % 40 == 39 ? 130 : values.random.nextInt(5);
            IntStream.range(0, count).forEach(partition -> owned.add(new TopicPartition(name, partition * 3)));
        }
        Collections.shuffle(owned, values.random);
        return owned;
    }

    private static byte[] stickyVersion1(List<TopicPartition> owned, int generation) {
        StickyAssignor assignor = new StickyAssignor();
        assignor.onAssignment(new Assignment(owned), group(generation));
        return array(assignor.subscriptionUserData(Set.of()));
    }

    /** No release since 2.3 writes it; its schema is still there to read it. */
    private static byte[] stickyVersion0(List<TopicPartition> owned) throws ReflectiveOperationException {
        Schema schema = (Schema) constant(StickyAssignor.class, "STICKY_ASSIGNOR_USER_DATA_V0");
        Schema ofTopic = (Schema) constant(StickyAssignor.class, "TOPIC_ASSIGNMENT");
        Map<String, List<Integer>> byTopic = new LinkedHashMap<>();
        for (TopicPartition partition : owned) byTopic.computeIfAbsent(partition.topic(), name -> new ArrayList<>()).add(partition.partition());
        Object[] topics = byTopic.entrySet().stream()
            .map(entry -> new Struct(ofTopic).set("topic", entry.getKey()).set("partitions", entry.getValue().toArray())).toArray();
        Struct struct = new Struct(schema).set("previous_assignment", topics);
        ByteBuffer buffer = ByteBuffer.allocate(schema.sizeOf(struct));
        schema.write(buffer, struct);
        return buffer.array();
    }

    private static byte[] cooperative(List<TopicPartition> owned, int generation) {
        CooperativeStickyAssignor assignor = new CooperativeStickyAssignor();
        assignor.onAssignment(new Assignment(owned), group(generation));
        return array(assignor.subscriptionUserData(Set.of()));
    }

    @SuppressWarnings("removal")
    private static ConsumerGroupMetadata group(int generation) {
        return new ConsumerGroupMetadata("group", generation, "member", Optional.empty());
    }

    private static Object constant(Class<?> type, String name) throws ReflectiveOperationException {
        java.lang.reflect.Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(null);
    }

    private static byte[] array(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    private void tell(String assignor, int version, List<TopicPartition> owned, Integer generation, byte[] data) {
        ObjectNode line = Messages.JSON.createObjectNode();
        line.put("assignor", assignor);
        line.put("version", version);
        line.put("hex", Messages.hex(data));
        line.set("partitions", shown(owned));
        line.put("generation", generation);
        written.add(line);
    }

    /** What an assignor believes of a subscription, as a leader that has read its bytes. */
    static ObjectNode believed(String assignor, byte[] bytes) throws ReflectiveOperationException {
        AbstractStickyAssignor leader = assignor.equals("sticky") ? new StickyAssignor() : new CooperativeStickyAssignor();
        Method memberData = leader.getClass().getDeclaredMethod("memberData", Subscription.class);
        memberData.setAccessible(true);
        MemberData member = (MemberData) memberData.invoke(leader, ConsumerProtocol.deserializeSubscription(ByteBuffer.wrap(bytes)));
        ObjectNode line = Messages.JSON.createObjectNode();
        line.put("assignor", assignor);
        line.put("hex", Messages.hex(bytes));
        line.set("partitions", shown(member.partitions));
        line.put("generation", member.generation.orElse(null));
        return line;
    }

    private static ArrayNode shown(List<TopicPartition> partitions) {
        ArrayNode out = Messages.JSON.createArrayNode();
        for (TopicPartition partition : partitions) out.addArray().add(partition.topic()).add(partition.partition());
        return out;
    }
}
