import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.stream.IntStream;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.*;

/** Batches: every compression, with and without a transaction, both kinds of timestamps, and markers. */
final class Batches {
    private static final Values VALUES = new Values(3);
    private static final Random RANDOM = VALUES.random;

    private Batches() { }

    static List<ObjectNode> lines() {
        List<ObjectNode> lines = new ArrayList<>();
        for (CompressionType compression : CompressionType.values()) {
            if (compression != CompressionType.NONE) lines.add(largeBatch(compression));
            for (int round = 0; round < 8; round++) {
                boolean transactional = round % 4 == 3;
                TimestampType timestamps = round % 4 == 2 ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
                int count = 1 + RANDOM.nextInt(6);
                SimpleRecord[] rows = IntStream.range(0, count).mapToObj(Batches::simpleRecord).toArray(SimpleRecord[]::new);
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
        byte[] key = RANDOM.nextInt(5) == 0 ? null : VALUES.word().getBytes(StandardCharsets.UTF_8);
        byte[] value = RANDOM.nextInt(5) == 0 ? null : new byte[RANDOM.nextInt(60)];
        // Half of the values compress well, half do not.
        if (value != null && index % 2 == 0) RANDOM.nextBytes(value);
        Header[] headers = IntStream.range(0, RANDOM.nextInt(4) == 0 ? 2 : 0)
            .mapToObj(i -> new RecordHeader(VALUES.word(), i == 0 ? new byte[] {1, 2} : null)).toArray(Header[]::new);
        return new SimpleRecord(1795224375134L + RANDOM.nextInt(100000) - 300, key, value, headers);
    }

    static ObjectNode batch(MemoryRecords records) {
        for (MutableRecordBatch batch : records.batches()) {
            // It was built by the clock, which must not show.
            if (batch.timestampType() == TimestampType.LOG_APPEND_TIME) batch.setMaxTimestamp(TimestampType.LOG_APPEND_TIME, 1795224379999L);
        }
        ByteBuffer buffer = records.buffer().duplicate();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        ObjectNode line = shown(records);
        line.put("hex", Messages.hex(bytes));
        return line;
    }

    static ObjectNode shown(MemoryRecords records) {
        MutableRecordBatch batch = records.batches().iterator().next();
        batch.ensureValid();
        ObjectNode line = Messages.JSON.createObjectNode();
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
            for (Header header : record.headers()) headers.addArray().add(header.key()).add(header.value() == null ? null : Messages.hex(header.value()));
        }
        return line;
    }

    /** A batch in hex a line; its records as JSON a line. */
    static void read() throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null; ) {
            System.out.println(shown(MemoryRecords.readableRecords(ByteBuffer.wrap(Messages.bytes(line)))));
        }
    }

    private static String hex(ByteBuffer buffer) {
        if (buffer == null) return null;
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return Messages.hex(bytes);
    }
}
