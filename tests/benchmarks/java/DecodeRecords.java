import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;

/**
 * Kafka's own decoders, timed on request. A line on standard input is "MODE PASSES FILE": one of pairs, opened, batches,
 * how often all records are decoded, and an uncompressed segment. The answer is one line: the nanoseconds of processor
 * time that it took (of all threads, so that collecting garbage counts), and how many records were decoded.
 */
public class DecodeRecords {
    private static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();
    private static final com.sun.management.OperatingSystemMXBean PROCESS =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private record Pair(ByteBuffer key, ByteBuffer value) { }

    /** Where what was decoded is left, so that no compiler finds it unused. */
    public static volatile Object last;

    public static void main(String[] args) throws Exception {
        Map<String, byte[]> segments = new HashMap<>();
        Map<String, List<Pair>> pairs = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", 3);
            String file = words[2];
            if (!segments.containsKey(file)) {
                segments.put(file, Files.readAllBytes(Path.of(file)));
                pairs.put(file, pairs(segments.get(file)));
            }
            long begin = PROCESS.getProcessCpuTime();
            long count = 0;
            for (int pass = Integer.parseInt(words[1]); pass > 0; pass--)
                count += words[0].equals("batches")
                    ? framed(segments.get(file))
                    : decoded(pairs.get(file), words[0].equals("opened"));
            System.out.println((PROCESS.getProcessCpuTime() - begin) + " " + count);
        }
    }

    private static List<Pair> pairs(byte[] segment) {
        List<Pair> out = new ArrayList<>();
        for (RecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(segment)).batches())
            for (Record record : batch) out.add(new Pair(record.key(), record.value()));
        return out;
    }

    private static long framed(byte[] segment) {
        long count = 0;
        for (RecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(segment)).batches()) {
            batch.ensureValid();
            for (Record record : batch) {
                last = SERDE.deserialize(record.key(), record.value());
                count++;
            }
        }
        return count;
    }

    private static long decoded(List<Pair> pairs, boolean opened) {
        for (Pair pair : pairs) {
            CoordinatorRecord record = SERDE.deserialize(pair.key.duplicate(), pair.value.duplicate());
            last = record;
            if (!opened) continue;
            for (GroupMetadataValue.MemberMetadata member : ((GroupMetadataValue) record.value().message()).members()) {
                last = ConsumerProtocol.deserializeSubscription(ByteBuffer.wrap(member.subscription()));
                last = ConsumerProtocol.deserializeAssignment(ByteBuffer.wrap(member.assignment()));
            }
        }
        return pairs.size();
    }
}
