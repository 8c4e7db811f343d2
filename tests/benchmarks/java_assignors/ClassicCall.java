import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** The call that the leader of a classic group makes. */
final class ClassicCall implements AssignGroups.Call {
    private final String name;
    private final Cluster cluster;
    private final Map<String, Subscription> subscriptions = new LinkedHashMap<>();
    private ConsumerPartitionAssignor assignor;

    ClassicCall(JsonNode spec) {
        name = spec.get("assignor").asText();
        Map<String, Node> brokers = new LinkedHashMap<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        spec.get("topics").fields().forEachRemaining(topic -> {
            for (int p = 0; p < topic.getValue().get("partitions").asInt(); p++) {
                List<Node> replicas = new ArrayList<>();
                topic.getValue().path("racks").path(String.valueOf(p)).forEach(rack -> replicas.add(
                    brokers.computeIfAbsent(rack.asText(), r -> new Node(brokers.size(), "broker", 9092, r))));
                Node[] nodes = replicas.toArray(new Node[0]);
                partitions.add(new PartitionInfo(topic.getKey(), p, nodes.length == 0 ? null : nodes[0], nodes, nodes));
            }
        });
        cluster = new Cluster("benchmark", brokers.values(), partitions, Set.of(), Set.of());
        spec.get("members").fields().forEachRemaining(entry -> {
            JsonNode member = entry.getValue();
            List<String> topics = new ArrayList<>();
            member.get("subscribed_topics").forEach(topic -> topics.add(topic.asText().intern()));
            List<TopicPartition> owned = new ArrayList<>();
            member.path("owned").fields().forEachRemaining(topic ->
                topic.getValue().forEach(p -> owned.add(new TopicPartition(topic.getKey(), p.asInt()))));
            String userData = member.path("user_data").textValue();
            Subscription subscription = new Subscription(topics,
                userData == null ? null : ByteBuffer.wrap(HexFormat.of().parseHex(userData)), owned,
                member.path("generation").asInt(-1), Optional.ofNullable(member.path("rack_id").textValue()));
            subscription.setGroupInstanceId(Optional.ofNullable(member.path("instance_id").textValue()));
            subscriptions.put(entry.getKey(), subscription);
        });
    }

    /** A fresh assignor, since some remember generations; reading user data moves its position. */
    @Override public void prepare() {
        assignor = switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            default -> new CooperativeStickyAssignor();
        };
        subscriptions.values().forEach(subscription -> {
            if (subscription.userData() != null) subscription.userData().rewind();
        });
    }

    @Override public Object run() {
        return assignor.assign(cluster, new GroupSubscription(subscriptions));
    }

    @Override public SortedMap<String, SortedMap<String, SortedSet<Integer>>> told(Object answer) {
        SortedMap<String, SortedMap<String, SortedSet<Integer>>> told = new TreeMap<>();
        ((GroupAssignment) answer).groupAssignment().forEach((member, assigned) -> assigned.partitions().forEach(partition ->
            told.computeIfAbsent(member, m -> new TreeMap<>())
                .computeIfAbsent(partition.topic(), t -> new TreeSet<>()).add(partition.partition())));
        return told;
    }
}
