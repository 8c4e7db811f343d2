import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.*;
import java.util.stream.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.assignment.*;
import org.apache.kafka.streams.state.HostInfo;

/**
 * What Kafka Streams writes into the user data of a subscription and of an assignment, in every version; and what it
 * reads of the same bytes where they are cut short, lengthened, or have one byte changed.
 *
 *   StreamsUserData FOLDER     its file of the fixtures
 */
public final class StreamsUserData {
    static final Random RANDOM = new Random(11);
    static final String[] TOPICS = {"orders", "app-store-changelog", "größe", "\uD83D\uDE00", "a\0b"};
    static final String[] TOPOLOGIES = {null, "sums", "größe", "\uD83D\uDE00"};

    public static void main(String[] args) throws Exception {
        List<ObjectNode> lines = new ArrayList<>();
        for (int version = 1; version <= StreamsAssignmentProtocolVersions.LATEST_SUPPORTED_VERSION; version++) {
            for (int round = 0; round < 8; round++) {
                for (String kind : List.of("subscription", "assignment")) {
                    byte[] bytes = kind.equals("subscription") ? subscription(version, round) : assignment(version, round);
                    lines.add(line(kind, bytes, false));
                    if (round < 2) continue;
                    lines.add(line(kind, Arrays.copyOf(bytes, RANDOM.nextInt(bytes.length)), true));
                    byte[] changed = Arrays.copyOf(bytes, bytes.length + RANDOM.nextInt(2) * 3);
                    changed[round == 2 ? 3 : round == 3 ? 7 : RANDOM.nextInt(bytes.length)] = (byte) RANDOM.nextInt(round < 4 ? 14 : 128);
                    lines.add(line(kind, changed, true));
                }
            }
        }
        JsonLines.save(Path.of(args[0]), "streams-user-data", lines);
    }

    static ObjectNode line(String kind, byte[] bytes, boolean altered) {
        ObjectNode line = Messages.JSON.createObjectNode();
        line.put("kind", kind).put("hex", HexFormat.of().formatHex(bytes)).put("altered", altered);
        try {
            ObjectNode read = kind.equals("subscription") ? told(SubscriptionInfo.decode(ByteBuffer.wrap(bytes))) : told(AssignmentInfo.decode(ByteBuffer.wrap(bytes)));
            line.set("read", read);
        } catch (RuntimeException error) {
            line.putNull("read");
        }
        return line;
    }

    static byte[] subscription(int version, int round) {
        Map<TaskId, Long> sums = new HashMap<>();
        for (TaskId task : tasks(version, round)) sums.put(task, List.of(-2L, -3L, -4L, 0L, RANDOM.nextLong() >>> 20).get(RANDOM.nextInt(5)));
        Map<String, String> tags = new TreeMap<>();
        for (int i = 0; i < round % 3; i++) tags.put(List.of("zone", "größe").get(i), List.of("eu-1", "").get(RANDOM.nextInt(2)));
        int newest = version < 3 ? -1 : version + RANDOM.nextInt(12 - version) + round / 7;
        return new SubscriptionInfo(version, newest, new ProcessId(new UUID(RANDOM.nextLong(), RANDOM.nextLong())),
            round == 0 ? null : "host-" + round + ":80", sums, (byte) (round - 3), round % 5, tags).encode().array();
    }

    static byte[] assignment(int version, int round) {
        Map<TaskId, Set<TopicPartition>> standby = new HashMap<>();
        for (TaskId task : tasks(version, round)) standby.put(task, partitions(round));
        int common = version < 3 ? -1 : RANDOM.nextInt(12);
        AssignmentInfo info = new AssignmentInfo(version, common, new ArrayList<>(tasks(version, round)), standby, hosts(round), hosts(round), round % 5);
        if (round > 3) info.setNextRebalanceTime(RANDOM.nextLong() >>> 20);
        return info.encode().array();
    }

    static Set<TaskId> tasks(int version, int round) {
        Set<TaskId> tasks = new LinkedHashSet<>();
        for (int i = 0; i < Math.min(round, 4); i++) {
            tasks.add(new TaskId(RANDOM.nextInt(3), RANDOM.nextInt(5), version < 10 ? null : TOPOLOGIES[RANDOM.nextInt(TOPOLOGIES.length)]));
        }
        return tasks;
    }

    static Set<TopicPartition> partitions(int round) {
        return IntStream.range(0, RANDOM.nextInt(Math.min(round, 3) + 1)).mapToObj(i -> new TopicPartition(TOPICS[RANDOM.nextInt(TOPICS.length)], i)).collect(Collectors.toSet());
    }

    static Map<HostInfo, Set<TopicPartition>> hosts(int round) {
        Map<HostInfo, Set<TopicPartition>> hosts = new HashMap<>();
        for (int i = 0; i < Math.min(round, 3); i++) hosts.put(new HostInfo(RANDOM.nextInt(4) == 0 ? "größe" : "h" + i, 8080 + i), partitions(round));
        return hosts;
    }

    // What Kafka's own getters say; sets in rising order.

    static ObjectNode told(SubscriptionInfo info) {
        ObjectNode told = Messages.JSON.createObjectNode();
        told.put("version", info.version()).put("latestSupportedVersion", info.latestSupportedVersion());
        told.put("process", info.processId().id().toString()).put("userEndPoint", info.userEndPoint()).put("errorCode", info.errorCode());
        told.set("active", texts(info.prevTasks()));
        told.set("standby", texts(info.standbyTasks()));
        ObjectNode sums = told.putObject("sums");
        info.taskOffsetSums().forEach((task, sum) -> sums.put(task.toString(), sum));
        ObjectNode tags = told.putObject("tags");
        info.clientTags().forEach(tags::put);
        return told;
    }

    static ObjectNode told(AssignmentInfo info) {
        ObjectNode told = Messages.JSON.createObjectNode();
        told.put("version", info.version()).put("commonlySupportedVersion", info.commonlySupportedVersion());
        told.put("errCode", info.errCode()).put("nextRebalanceMs", info.nextRebalanceMs());
        ArrayNode active = told.putArray("active");
        info.activeTasks().forEach(task -> active.add(task.toString()));
        ObjectNode standby = told.putObject("standby");
        info.standbyTasks().forEach((task, partitions) -> standby.set(task.toString(), texts(partitions)));
        told.set("hosts", hosts(info.partitionsByHost()));
        told.set("standbyHosts", hosts(info.standbyPartitionByHost()));
        return told;
    }

    static ObjectNode hosts(Map<HostInfo, Set<TopicPartition>> hosts) {
        ObjectNode told = Messages.JSON.createObjectNode();
        hosts.forEach((host, partitions) -> told.set(host.host() + ":" + host.port(), texts(partitions)));
        return told;
    }

    static ArrayNode texts(Collection<?> each) {
        ArrayNode texts = Messages.JSON.createArrayNode();
        each.stream().map(String::valueOf).sorted().forEach(texts::add);
        return texts;
    }
}
