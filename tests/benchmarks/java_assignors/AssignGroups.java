import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;

/**
 * Kafka's own assignors, timed on request. The argument is an assignment spec, as `manage.py assign` takes it. Each
 * line on standard input is a request with one line as its answer: "call" makes one call and tells its nanoseconds (what
 * has to be made ready for a call is not counted), "answer" tells a digest of what the last call answered.
 */
public class AssignGroups {
    /** One assignor and its input, in the order of the document. */
    interface Call {
        void prepare();

        Object run();

        /** Member, topic, partitions, sorted: what a run answered, without what is empty. */
        SortedMap<String, SortedMap<String, SortedSet<Integer>>> told(Object answer);
    }

    public static void main(String[] args) throws Exception {
        JsonNode spec = new ObjectMapper().readTree(new File(args[0]));
        Call call = spec.get("protocol").asText().equals("consumer") ? new ConsumerCall(spec) : new ClassicCall(spec);
        Object answer = null;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("call")) {
                call.prepare();
                long begin = System.nanoTime();
                answer = call.run();
                System.out.println(System.nanoTime() - begin);
            } else {
                System.out.println(digest(call.told(answer)));
            }
        }
    }

    private static String digest(SortedMap<String, SortedMap<String, SortedSet<Integer>>> told) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (Map.Entry<String, SortedMap<String, SortedSet<Integer>>> member : told.entrySet())
            for (Map.Entry<String, SortedSet<Integer>> topic : member.getValue().entrySet()) {
                StringBuilder line = new StringBuilder(member.getKey()).append(' ').append(topic.getKey());
                for (int partition : topic.getValue()) line.append(' ').append(partition);
                digest.update(line.append('\n').toString().getBytes(StandardCharsets.UTF_8));
            }
        return HexFormat.of().formatHex(digest.digest());
    }
}
