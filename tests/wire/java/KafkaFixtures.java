import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.*;
import java.lang.reflect.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.metadata.*;
import org.apache.kafka.common.protocol.*;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.*;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.Utils;
import org.apache.kafka.coordinator.group.generated.*;
import org.apache.kafka.image.*;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * What Kafka's own classes write, as JSON lines for tests/wire; and what they read of what the tests write.
 *
 *   java -cp "JARS/*" KafkaFixtures.java write FOLDER     records, blobs, metadata, hashes, batches: one file each
 *   java -cp "JARS/*" KafkaFixtures.java read  < LINES    a batch in hex a line; its records as JSON a line
 */
public class KafkaFixtures {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Random RANDOM = new Random(3);
    static final String[] WORDS = {"", "foo", "orders", "größe", "日本", "\uD83D\uDE00", "a-b_c.d", "consumer-orders-1-8e7d"};
    static final Uuid[] IDS = {Uuid.fromString("cLledStpRu6ixDUvA4jVgA"), Uuid.fromString("_-LledStpRu6ixDUvA4jVg"), Uuid.ZERO_UUID};

    public static void main(String[] args) throws Exception {
        if (args[0].equals("read")) { readBatches(); return; }
        Path folder = Path.of(args[1]);
        Files.createDirectories(folder);
        save(folder.resolve("records.jsonl"), records());
        save(folder.resolve("embedded.jsonl"), embedded());
        save(folder.resolve("metadata.jsonl"), metadata());
        save(folder.resolve("hashes.jsonl"), hashes());
        save(folder.resolve("batches.jsonl"), batches());
    }

    static void save(Path file, List<ObjectNode> lines) throws IOException {
        Files.writeString(file, lines.stream().map(line -> line + "\n").collect(Collectors.joining()));
    }

    // Records: every type, every version of its value, several values each, and a tombstone.

    static List<ObjectNode> records() throws Exception {
        List<ObjectNode> lines = new ArrayList<>();
        for (short type : new short[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 16}) {
            CoordinatorRecordType recordType = CoordinatorRecordType.fromId(type);
            for (short version = recordType.lowestSupportedVersion(); version <= recordType.highestSupportedVersion(); version++) {
                for (int round = 0; round < 14; round++) lines.add(record(recordType, version, round));
            }
            ObjectNode tombstone = record(recordType, recordType.highestSupportedVersion(), 0);
            tombstone.putNull("value_hex");
            tombstone.putNull("version");
            tombstone.putNull("value");
            lines.add(tombstone);
        }
        return lines;
    }

    static ObjectNode record(CoordinatorRecordType type, short version, int round) throws Exception {
        ApiMessage key = (ApiMessage) fill(type.newRecordKey(), version, round);
        ApiMessage value = (ApiMessage) fill(type.newRecordValue(), version, round);
        boolean flexible = version >= 4 || type.id() > 2;
        // Every third carries tagged fields that no release has declared.
        boolean strange = flexible && round % 3 == 2;
        if (strange) addUnknownTags(value);
        ObjectNode line = JSON.createObjectNode();
        line.put("type", type.id());
        line.put("key_hex", hex(MessageUtil.toCoordinatorTypePrefixedBytes(key)));
        line.put("value_hex", hex(MessageUtil.toVersionPrefixedBytes(version, value)));
        line.put("unknown_tags", strange);
        line.set("key", CoordinatorRecordJsonConverters.writeRecordKeyAsJson(key));
        line.put("version", version);
        line.set("value", CoordinatorRecordJsonConverters.writeRecordValueAsJson(value, version));
        return line;
    }

    static void addUnknownTags(Message message) {
        message.unknownTaggedFields().add(new RawTaggedField(40, new byte[] {1, 2, 3}));
        message.unknownTaggedFields().add(new RawTaggedField(300, new byte[] {}));
    }

    static List<ObjectNode> embedded() throws Exception {
        List<ObjectNode> lines = new ArrayList<>();
        for (short version = 0; version <= 3; version++) {
            for (int round = 0; round < 12; round++) {
                var subscription = (ConsumerProtocolSubscription) fill(new ConsumerProtocolSubscription(), version, round);
                lines.add(blob("subscription", version, subscription, ConsumerProtocolSubscriptionJsonConverter.write(subscription, version)));
                var assignment = (ConsumerProtocolAssignment) fill(new ConsumerProtocolAssignment(), version, round);
                lines.add(blob("assignment", version, assignment, ConsumerProtocolAssignmentJsonConverter.write(assignment, version)));
            }
        }
        return lines;
    }

    static ObjectNode blob(String kind, short version, Message message, JsonNode json) {
        ObjectNode line = JSON.createObjectNode();
        line.put("kind", kind);
        line.put("version", version);
        line.put("hex", hex(MessageUtil.toVersionPrefixedBytes(version, message)));
        line.set("value", json);
        return line;
    }

    static List<ObjectNode> metadata() throws Exception {
        List<ObjectNode> lines = new ArrayList<>();
        for (MetadataRecordType type : MetadataRecordType.values()) {
            for (short version = type.lowestSupportedVersion(); version <= type.highestSupportedVersion(); version++) {
                boolean wanted = List.of("TopicRecord", "PartitionRecord", "RemoveTopicRecord").contains(type.newMetadataRecord().getClass().getSimpleName());
                for (int round = 0; round < (wanted ? 8 : 1); round++) {
                    ApiMessage message;
                    byte[] bytes;
                    try {
                        message = type.newMetadataRecord();
                        if (wanted) fill(message, version, round);
                        ApiMessageAndVersion record = new ApiMessageAndVersion(message, version);
                        ObjectSerializationCache cache = new ObjectSerializationCache();
                        ByteBuffer buffer = ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(record, cache));
                        MetadataRecordSerde.INSTANCE.write(record, cache, new ByteBufferAccessor(buffer));
                        bytes = buffer.array();
                    } catch (org.apache.kafka.common.errors.UnsupportedVersionException error) {
                        continue; // a field that this version may not carry
                    }
                    ObjectNode line = JSON.createObjectNode();
                    line.put("name", type.newMetadataRecord().getClass().getSimpleName());
                    line.put("version", version);
                    line.put("hex", hex(bytes));
                    line.set("value", MetadataJsonConverters.writeJson(message, version));
                    lines.add(line);
                }
            }
        }
        return lines;
    }

    // Hashes: images with and without racks.

    static List<ObjectNode> hashes() {
        List<ObjectNode> lines = new ArrayList<>();
        String[] racks = {null, "a", "zone-b", "größe"};
        for (int round = 0; round < 40; round++) {
            MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
            boolean withRacks = round % 2 == 1;
            for (int broker = 0; broker < racks.length; broker++) {
                delta.replay(new RegisterBrokerRecord().setBrokerId(broker).setRack(withRacks ? racks[broker] : null));
            }
            ObjectNode topics = JSON.createObjectNode();
            for (int topic = 0; topic < round % 5; topic++) {
                String name = List.of("foo", "orders", "größe", "日本", "Zebra").get(topic);
                Uuid id = new Uuid(RANDOM.nextLong(), RANDOM.nextLong());
                delta.replay(new TopicRecord().setName(name).setTopicId(id));
                ArrayNode partitionRacks = JSON.createArrayNode();
                int count = 1 + RANDOM.nextInt(6);
                for (int partition = 0; partition < count; partition++) {
                    List<Integer> replicas = new ArrayList<>(List.of(0, 1, 2, 3));
                    Collections.shuffle(replicas, RANDOM);
                    replicas = replicas.subList(0, 1 + RANDOM.nextInt(3));
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
            ObjectNode line = JSON.createObjectNode();
            line.set("topics", topics);
            line.put("hash", Utils.computeGroupHash(hashes));
            lines.add(line);
        }
        return lines;
    }

    // Batches: every compression, with and without a transaction, both kinds of timestamps, and markers.

    static List<ObjectNode> batches() {
        List<ObjectNode> lines = new ArrayList<>();
        for (CompressionType compression : CompressionType.values()) {
            if (compression != CompressionType.NONE) lines.add(largeBatch(compression));
            for (int round = 0; round < 8; round++) {
                boolean transactional = round % 4 == 3;
                TimestampType timestamps = round % 4 == 2 ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
                int count = 1 + RANDOM.nextInt(6);
                SimpleRecord[] rows = IntStream.range(0, count).mapToObj(KafkaFixtures::simpleRecord).toArray(SimpleRecord[]::new);
                MemoryRecords records = MemoryRecords.withRecords(RecordBatch.CURRENT_MAGIC_VALUE, 1000L * round, Compression.of(compression).build(),
                    timestamps, transactional ? 4007 : -1, transactional ? (short) 3 : -1, transactional ? 12 : 0, 5, transactional, rows);
                lines.add(batch(records));
            }
        }
        for (ControlRecordType type : List.of(ControlRecordType.ABORT, ControlRecordType.COMMIT)) {
            lines.add(batch(MemoryRecords.withEndTransactionMarker(77, 1795224375134L, 5, 4007, (short) 3, new EndTransactionMarker(type, 9))));
        }
        return lines;
    }

    /** So large that every format needs several blocks. Its records follow a rule that the test knows, and are not told. */
    static ObjectNode largeBatch(CompressionType compression) {
        SimpleRecord[] rows = IntStream.range(0, 1000).mapToObj(i -> {
            byte[] value = new byte[200];
            Arrays.fill(value, (byte) (i % 251));
            return new SimpleRecord(i, ("key-" + i).getBytes(StandardCharsets.UTF_8), value);
        }).toArray(SimpleRecord[]::new);
        ObjectNode line = batch(MemoryRecords.withRecords(Compression.of(compression).build(), rows));
        line.remove("records");
        return line;
    }

    static SimpleRecord simpleRecord(int index) {
        byte[] key = RANDOM.nextInt(5) == 0 ? null : word().getBytes(StandardCharsets.UTF_8);
        byte[] value = RANDOM.nextInt(5) == 0 ? null : new byte[RANDOM.nextInt(60)];
        // Half of the values compress well, half do not.
        if (value != null && index % 2 == 0) RANDOM.nextBytes(value);
        Header[] headers = IntStream.range(0, RANDOM.nextInt(4) == 0 ? 2 : 0)
            .mapToObj(i -> new RecordHeader(word(), i == 0 ? new byte[] {1, 2} : null)).toArray(Header[]::new);
        return new SimpleRecord(1795224375134L + RANDOM.nextInt(100000) - 300, key, value, headers);
    }

    static ObjectNode batch(MemoryRecords records) {
        ByteBuffer buffer = records.buffer().duplicate();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        ObjectNode line = shown(records);
        line.put("hex", hex(bytes));
        return line;
    }

    static ObjectNode shown(MemoryRecords records) {
        MutableRecordBatch batch = records.batches().iterator().next();
        batch.ensureValid();
        ObjectNode line = JSON.createObjectNode();
        line.put("compression", batch.compressionType().name);
        line.put("baseOffset", batch.baseOffset());
        line.put("lastOffset", batch.lastOffset());
        line.put("leaderEpoch", batch.partitionLeaderEpoch());
        line.put("logAppendTime", batch.timestampType() == TimestampType.LOG_APPEND_TIME);
        line.put("maxTimestamp", batch.maxTimestamp());
        line.put("transactional", batch.isTransactional());
        line.put("control", batch.isControlBatch());
        line.put("producerId", batch.producerId());
        line.put("producerEpoch", batch.producerEpoch());
        line.put("baseSequence", batch.baseSequence());
        ArrayNode rows = line.putArray("records");
        for (org.apache.kafka.common.record.internal.Record record : batch) {
            record.ensureValid();
            ArrayNode row = rows.addArray().add(record.offset()).add(record.timestamp()).add(hex(record.key())).add(hex(record.value()));
            ArrayNode headers = row.addArray();
            for (Header header : record.headers()) headers.addArray().add(header.key()).add(header.value() == null ? null : hex(header.value()));
        }
        return line;
    }

    static void readBatches() throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null; ) {
            System.out.println(shown(MemoryRecords.readableRecords(ByteBuffer.wrap(HexFormat.of().parseHex(line)))));
        }
    }

    // Random values for any generated message, through its setters.

    static final Map<Method, Boolean> NULLABLE = new HashMap<>();

    static Object fill(Object message, short version, int round) throws Exception {
        for (Method setter : setters(message.getClass())) {
            // The first round leaves every default, the second gives all, then it is left to chance.
            if (round == 0 && !setter.getParameterTypes()[0].isPrimitive() && nullable(message.getClass(), setter, version)) continue;
            boolean asNull = round > 1 && RANDOM.nextInt(3) == 0 && nullable(message.getClass(), setter, version);
            setter.invoke(message, asNull ? null : value(setter.getGenericParameterTypes()[0], version, round));
        }
        return message;
    }

    static List<Method> setters(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
            .filter(method -> method.getName().startsWith("set") && method.getParameterCount() == 1 && !method.isBridge())
            .sorted(Comparator.comparing(Method::getName)).toList();
    }

    static boolean nullable(Class<?> type, Method setter, short version) throws Exception {
        Boolean known = NULLABLE.get(setter);
        if (known != null) return known;
        if (setter.getParameterTypes()[0].isPrimitive() || setter.getParameterTypes()[0] == Uuid.class) return false;
        Object probe = type.getDeclaredConstructor().newInstance();
        for (Method other : setters(type)) other.invoke(probe, value(other.getGenericParameterTypes()[0], version, 1));
        setter.invoke(probe, (Object) null);
        boolean answer;
        try {
            short newest = ((Message) probe).highestSupportedVersion();
            MessageUtil.toVersionPrefixedBytes(newest == Short.MAX_VALUE ? version : newest, (Message) probe);
            answer = true;
        } catch (NullPointerException error) {
            answer = false;
        }
        NULLABLE.put(setter, answer);
        return answer;
    }

    static Object value(Type type, short version, int round) throws Exception {
        if (type instanceof ParameterizedType list) {
            List<Object> out = new ArrayList<>();
            int size = round == 1 ? 2 : RANDOM.nextInt(4);
            for (int i = 0; i < size; i++) out.add(value(list.getActualTypeArguments()[0], version, round));
            return out;
        }
        Class<?> c = (Class<?>) type;
        if (c == String.class) return word();
        if (c == Uuid.class) return IDS[RANDOM.nextInt(IDS.length)];
        if (c == byte[].class) { byte[] bytes = new byte[RANDOM.nextInt(20)]; RANDOM.nextBytes(bytes); return bytes; }
        if (c == ByteBuffer.class) { byte[] bytes = new byte[RANDOM.nextInt(20)]; RANDOM.nextBytes(bytes); return ByteBuffer.wrap(bytes); }
        if (c == boolean.class) return RANDOM.nextBoolean();
        if (c == byte.class) return (byte) RANDOM.nextInt(3);
        if (c == short.class) return (short) RANDOM.nextInt(1000);
        if (c == int.class || c == Integer.class) return switch (RANDOM.nextInt(4)) { case 0 -> 0; case 1 -> -1; case 2 -> RANDOM.nextInt(); default -> RANDOM.nextInt(300); };
        if (c == long.class) return switch (RANDOM.nextInt(4)) { case 0 -> 0L; case 1 -> -1L; case 2 -> RANDOM.nextLong(); default -> 1795224375134L; };
        if (c == double.class) return RANDOM.nextDouble();
        if (Message.class.isAssignableFrom(c)) return fill(c.getDeclaredConstructor().newInstance(), version, round);
        if (Collection.class.isAssignableFrom(c)) {
            // A keyed collection of a message: as many elements as a list would have, of its nested type.
            @SuppressWarnings("unchecked") Collection<Object> out = (Collection<Object>) c.getDeclaredConstructor().newInstance();
            Class<?> element = Class.forName(c.getName().replaceAll("Collection$", ""));
            for (int i = 0; i < RANDOM.nextInt(3); i++) out.add(fill(element.getDeclaredConstructor().newInstance(), version, round));
            return out;
        }
        throw new IllegalStateException("no value for " + c);
    }

    static String word() { return WORDS[RANDOM.nextInt(WORDS.length)]; }

    static String hex(byte[] bytes) { return HexFormat.of().formatHex(bytes); }

    static String hex(ByteBuffer buffer) {
        if (buffer == null) return null;
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return hex(bytes);
    }
}
