import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.*;

/**
 * The versions that Kafka 4.0 took away, written by the classes of the last release that had them. It is compiled with the
 * newer jars and run with the older ones, so it uses only what is in both.
 *
 *   OldestVersions FOLDER
 */
public final class OldestVersions {
    private static final int MESSAGES_A_VERSION = 40;

    private OldestVersions() { }

    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        List<ObjectNode> lines = new ArrayList<>();
        for (String side : List.of("Request", "Response")) {
            lines.addAll(Messages.lines("OffsetCommit" + side, 0, 1, MESSAGES_A_VERSION));
            lines.addAll(Messages.lines("OffsetFetch" + side, 0, 0, MESSAGES_A_VERSION));
        }
        lines.addAll(Messages.lines("RequestHeader", 0, 0, MESSAGES_A_VERSION));
        JsonLines.save(Path.of(args[0]), "rpcs-oldest", lines);
    }
}
