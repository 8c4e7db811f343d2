import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * One member of a group, driven by lines on standard input: "join", "commit", "stall 3000" (does not poll for so many
 * milliseconds), "subscribe foo,bar" (to these from now on), "count" (tells how many records it has read), "leave" (closes and ends).
 * It tells on standard output what happens: "ready", "assigned ID orders-0 orders-1", "revoked …", "lost …",
 * "committed", "refused" (a commit, which is tried again), "read 12", "threw GroupAuthorizationException" (out of poll()), "left".
 * When standard input ends it leaves too, so that it never outlives the test.
 *
 * Arguments: topics (comma; or one "regex:" and a pattern that the broker resolves), milliseconds to spend in onPartitionsRevoked, then key=value settings of the consumer.
 * Four settings are the program's own: "member.reads=true" tells each record that it reads ("at orders-0 12 1795782607745", with the time), "member.commits.revoked=true" commits in onPartitionsRevoked, "member.assigned.ms" are
 * milliseconds to spend in onPartitionsAssigned, and "member.goes.on=true" polls again when poll() has thrown, where else the program ends.
 */
public class GroupMember {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final String REGEX = "regex:";
    private static final String COMMITS_REVOKED = "member.commits.revoked";
    private static final String ASSIGNED_MS = "member.assigned.ms";
    private static final String GOES_ON = "member.goes.on";
    private static final String READS = "member.reads";

    /** What its callbacks do beside telling that they were called. */
    private record Callbacks(long revokeMs, long assignedMs, boolean commitsRevoked) {
    }

    public static void main(String[] args) throws Exception {
        Properties settings = new Properties();
        settings.put("key.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
        settings.put("value.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
        for (int i = 2; i < args.length; i++) {
            int equals = args[i].indexOf('=');
            settings.put(args[i].substring(0, equals), args[i].substring(equals + 1));
        }
        long assignedMs = Long.parseLong((String) settings.getOrDefault(ASSIGNED_MS, "0"));
        settings.remove(ASSIGNED_MS);
        boolean commitsRevoked = "true".equals(settings.remove(COMMITS_REVOKED));
        Callbacks callbacks = new Callbacks(Long.parseLong(args[1]), assignedMs, commitsRevoked);
        boolean goesOn = "true".equals(settings.remove(GOES_ON));
        boolean tellsReads = "true".equals(settings.remove(READS));
        ConcurrentLinkedQueue<String> commands = new ConcurrentLinkedQueue<>();
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings);
        Thread reader = new Thread(() -> read(commands));
        reader.setDaemon(true);
        reader.start();
        say("ready", List.of());

        boolean joined = false;
        int commits = 0;
        long records = 0;
        while (true) {
            String command = commands.poll();
            if ("leave".equals(command)) break;
            if ("join".equals(command)) {
                subscribe(consumer, args[0], callbacks);
                joined = true;
            }
            if (command != null && command.startsWith("subscribe ")) {
                subscribe(consumer, command.substring("subscribe ".length()), callbacks);
                joined = true;
            }
            if (command != null && command.startsWith("stall ")) {
                Thread.sleep(Long.parseLong(command.substring("stall ".length())));
                say("stalled", List.of());
            }
            if ("count".equals(command)) say("read " + records, List.of());
            if ("commit".equals(command)) commits++;
            if (commits > 0 && committed(consumer)) commits--;
            if (!joined) {
                Thread.sleep(POLL.toMillis());
                continue;
            }
            try {
                for (ConsumerRecord<byte[], byte[]> each : consumer.poll(POLL)) {
                    records++;
                    String place = each.topic() + "-" + each.partition() + " " + each.offset();
                    if (tellsReads) say("at " + place + " " + System.currentTimeMillis(), List.of());
                }
            } catch (KafkaException thrown) {
                if (!goesOn) throw thrown;
                say("threw " + thrown.getClass().getSimpleName(), List.of());
                Thread.sleep(POLL.toMillis());
            }
        }
        consumer.close();
        say("left", List.of());
    }

    /** A commit may be refused, where the broker stood still for longer than a session: it is tried again after the next poll. */
    private static boolean committed(KafkaConsumer<byte[], byte[]> consumer) {
        try {
            consumer.commitSync();
        } catch (KafkaException refused) {
            say("refused", List.of());
            return false;
        }
        say("committed", List.of());
        return true;
    }

    private static void subscribe(KafkaConsumer<byte[], byte[]> consumer, String to, Callbacks callbacks) {
        ConsumerRebalanceListener listener = listener(consumer, callbacks);
        if (to.startsWith(REGEX)) consumer.subscribe(new SubscriptionPattern(to.substring(REGEX.length())), listener);
        else consumer.subscribe(Arrays.asList(to.split(",")), listener);
    }

    private static ConsumerRebalanceListener listener(KafkaConsumer<byte[], byte[]> consumer, Callbacks callbacks) {
        return new ConsumerRebalanceListener() {
            @Override public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                say("assigned " + consumer.groupMetadata().memberId(), partitions);
                spend(callbacks.assignedMs());
            }

            @Override public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                say("revoked", partitions);
                spend(callbacks.revokeMs());
                if (callbacks.commitsRevoked()) committed(consumer);
            }

            @Override public void onPartitionsLost(Collection<TopicPartition> partitions) {
                say("lost", partitions);
            }
        };
    }

    private static void spend(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static void read(ConcurrentLinkedQueue<String> commands) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
            String line;
            while ((line = in.readLine()) != null) commands.add(line.strip());
        } catch (java.io.IOException ended) {
            // The same as the end of the input: the one who drove this member is gone.
        }
        commands.add("leave");
    }

    private static synchronized void say(String what, Collection<TopicPartition> partitions) {
        String names = partitions.stream().map(TopicPartition::toString).sorted().collect(Collectors.joining(" "));
        System.out.println((what + " " + names).strip());
    }
}
