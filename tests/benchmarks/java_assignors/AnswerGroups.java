import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.SortedMap;
import java.util.SortedSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;

/**
 * What Kafka's own assignors answer: JSON Lines of assignment specs in, in the order of the document, and for each a line
 * {"assignment": …}, without what is empty, or {"error": …} with the name of what was thrown.
 */
public class AnswerGroups {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        // Standard output is for answers alone; loggers write where they find it.
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        for (String line = in.readLine(); line != null; line = in.readLine()) out.println(answer(JSON.readTree(line)));
        out.flush();
    }

    private static ObjectNode answer(JsonNode spec) {
        ObjectNode told = JSON.createObjectNode();
        try {
            AssignGroups.Call call =
                spec.get("protocol").asText().equals("consumer") ? new ConsumerCall(spec) : new ClassicCall(spec);
            call.prepare();
            Object answer = call.run();
            SortedMap<String, SortedMap<String, SortedSet<Integer>>> assignment = call.told(answer);
            if (answer instanceof GroupAssignment classic && listed(classic) != size(assignment))
                return told.put("error", "a partition is twice in one list");
            told.set("assignment", JSON.valueToTree(assignment));
        } catch (RuntimeException e) {
            told.put("error", e.getClass().getSimpleName());
        }
        return told;
    }

    private static int listed(GroupAssignment answer) {
        return answer.groupAssignment().values().stream().mapToInt(assigned -> assigned.partitions().size()).sum();
    }

    private static int size(SortedMap<String, SortedMap<String, SortedSet<Integer>>> assignment) {
        return assignment.values().stream().flatMap(topics -> topics.values().stream()).mapToInt(Collection::size).sum();
    }
}
