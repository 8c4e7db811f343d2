import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.coordinator.group.modern.SubscribedTopicDescriberImpl;
import org.apache.kafka.coordinator.group.modern.TopicIds;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;

/** The call that the group coordinator makes. The inverted target is the group's own and stands before the call. */
final class ConsumerCall implements AssignGroups.Call {
    private final Map<String, Uuid> ids = new LinkedHashMap<>();
    private final Map<Uuid, String> names = new HashMap<>();
    private final ConsumerGroupPartitionAssignor assignor;
    private final CoordinatorMetadataImage image;
    private final TopicIds.CachedTopicResolver resolver;
    private final GroupSpecImpl group;

    ConsumerCall(JsonNode spec) {
        assignor = spec.get("assignor").asText().equals("range") ? new RangeAssignor() : new UniformAssignor();
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        // Ids of small rising numbers: a hash set of Java walks them in that order, which is the document's.
        spec.get("topics").fields().forEachRemaining(topic -> {
            Uuid id = new Uuid(0, ids.size() + 1);
            ids.put(topic.getKey(), id);
            names.put(id, topic.getKey());
            delta.replay(new TopicRecord().setTopicId(id).setName(topic.getKey()));
            for (int p = 0; p < topic.getValue().get("partitions").asInt(); p++)
                delta.replay(new PartitionRecord().setTopicId(id).setPartitionId(p).setReplicas(List.of(0)));
        });
        image = new KRaftCoordinatorMetadataImage(delta.apply(MetadataProvenance.EMPTY));
        resolver = new TopicIds.CachedTopicResolver(image);

        Map<String, MemberSubscriptionAndAssignmentImpl> members = new LinkedHashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        Set<Set<String>> subscriptions = new LinkedHashSet<>();
        spec.get("members").fields().forEachRemaining(entry -> {
            JsonNode member = entry.getValue();
            Set<String> subscribed = new LinkedHashSet<>();
            member.get("subscribed_topics").forEach(topic -> subscribed.add(topic.asText().intern()));
            subscriptions.add(subscribed);
            Map<Uuid, Set<Integer>> target = new LinkedHashMap<>();
            member.path("owned").fields().forEachRemaining(owned -> {
                // A topic that is gone has an id that nobody knows.
                Uuid id = ids.computeIfAbsent(owned.getKey(), name -> new Uuid(0, ids.size() + 1));
                Set<Integer> partitions = new LinkedHashSet<>();
                owned.getValue().forEach(p -> {
                    partitions.add(p.asInt());
                    inverted.computeIfAbsent(id, t -> new HashMap<>()).put(p.asInt(), entry.getKey());
                });
                target.put(id, partitions);
            });
            members.put(entry.getKey(), new MemberSubscriptionAndAssignmentImpl(
                Optional.ofNullable(member.path("rack_id").textValue()),
                Optional.ofNullable(member.path("instance_id").textValue()),
                new TopicIds(subscribed, resolver), target.isEmpty() ? Assignment.EMPTY : new Assignment(target)));
        });
        group = new GroupSpecImpl(members,
            subscriptions.size() == 1 ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS, inverted);
    }

    @Override public void prepare() {
        resolver.clear();
    }

    @Override public Object run() {
        return assignor.assign(group, new SubscribedTopicDescriberImpl(image));
    }

    @Override public SortedMap<String, SortedMap<String, SortedSet<Integer>>> told(Object answer) {
        SortedMap<String, SortedMap<String, SortedSet<Integer>>> told = new TreeMap<>();
        ((GroupAssignment) answer).members().forEach((member, assigned) -> assigned.partitions().forEach((id, partitions) -> {
            if (!partitions.isEmpty())
                told.computeIfAbsent(member, m -> new TreeMap<>()).put(names.get(id), new TreeSet<>(partitions));
        }));
        return told;
    }
}
