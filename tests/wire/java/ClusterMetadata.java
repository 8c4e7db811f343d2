import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.*;
import org.apache.kafka.common.protocol.*;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.Utils;
import org.apache.kafka.image.*;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/** Records of the cluster's metadata, and the hashes that groups make of it. */
final class ClusterMetadata {
    private static final Set<String> WANTED = Set.of("TopicRecord", "PartitionRecord", "RemoveTopicRecord");
    private static final int ROUNDS = 30;

    private ClusterMetadata() { }

    /** The records that the tests read in every version and many values; of the others one each, to be passed over. */
    static List<ObjectNode> records() throws Exception {
        List<ObjectNode> lines = new ArrayList<>();
        for (MetadataRecordType type : MetadataRecordType.values()) {
            String name = type.newMetadataRecord().getClass().getSimpleName();
            for (short version = type.lowestSupportedVersion(); version <= type.highestSupportedVersion(); version++) {
                Values values = Values.of(name, version);
                for (int round = 0; round < (WANTED.contains(name) ? ROUNDS : 1); round++) {
                    ApiMessage message = values.fill(type.newMetadataRecord(), version, Values.mood(round));
                    ApiMessageAndVersion record = new ApiMessageAndVersion(message, version);
                    ObjectSerializationCache cache = new ObjectSerializationCache();
                    ByteBuffer buffer = ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(record, cache));
                    MetadataRecordSerde.INSTANCE.write(record, cache, new ByteBufferAccessor(buffer));
                    ObjectNode line = Messages.JSON.createObjectNode();
                    line.put("name", name);
                    line.put("version", version);
                    line.put("hex", Messages.hex(buffer.array()));
                    line.set("value", MetadataJsonConverters.writeJson(message, version));
                    lines.add(line);
                }
            }
        }
        return lines;
    }

    /** Images with and without racks. */
    static List<ObjectNode> hashes() {
        Random random = new Random(3);
        List<ObjectNode> lines = new ArrayList<>();
        String[] racks = {null, "a", "zone-b", "größe"};
        for (int round = 0; round < 40; round++) {
            MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
            boolean withRacks = round % 2 == 1;
            for (int broker = 0; broker < racks.length; broker++) {
                delta.replay(new RegisterBrokerRecord().setBrokerId(broker).setRack(withRacks ? racks[broker] : null));
            }
            ObjectNode topics = Messages.JSON.createObjectNode();
            for (int topic = 0; topic < round % 5; topic++) {
                String name = List.of("foo", "orders", "größe", "日本", "Zebra").get(topic);
                Uuid id = new Uuid(random.nextLong(), random.nextLong());
                delta.replay(new TopicRecord().setName(name).setTopicId(id));
                ArrayNode partitionRacks = Messages.JSON.createArrayNode();
                int count = 1 + random.nextInt(6);
                for (int partition = 0; partition < count; partition++) {
                    List<Integer> replicas = new ArrayList<>(List.of(0, 1, 2, 3));
                    Collections.shuffle(replicas, random);
                    replicas = replicas.subList(0, 1 + random.nextInt(3));
                    delta.replay(new PartitionRecord().setPartitionId(partition).setTopicId(id).setReplicas(replicas)
                        .setIsr(replicas).setLeader(replicas.get(0)).setLeaderEpoch(0).setPartitionEpoch(0));
                    ArrayNode of = partitionRacks.addArray();
                    for (int replica : replicas) if (withRacks && racks[replica] != null) of.add(racks[replica]);
                }
                topics.putObject(name).put("id", id.toString()).set("racks", partitionRacks);
            }
            var image = new KRaftCoordinatorMetadataImage(delta.apply(MetadataProvenance.EMPTY));
            Map<String, Long> hashes = new HashMap<>();
            topics.fieldNames().forEachRemaining(name -> {
                hashes.put(name, Utils.computeTopicHash(name, image));
                ((ObjectNode) topics.get(name)).put("hash", hashes.get(name));
            });
            ObjectNode line = Messages.JSON.createObjectNode();
            line.set("topics", topics);
            line.put("hash", Utils.computeGroupHash(hashes));
            lines.add(line);
        }
        return lines;
    }
}
