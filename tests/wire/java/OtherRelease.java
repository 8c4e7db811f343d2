import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.*;

/**
 * Messages in versions that the release does not have, written by the classes of one that has. It is compiled with the
 * release's jars and run with the other's in front, so it uses only what is in both.
 *
 *   OtherRelease FOLDER FILE MESSAGE LOWEST HIGHEST EACH …
 */
public final class OtherRelease {
    private OtherRelease() { }

    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        List<ObjectNode> lines = new ArrayList<>();
        for (int at = 2; at < args.length; at += 4) {
            int[] numbers = Arrays.stream(args, at + 1, at + 4).mapToInt(Integer::parseInt).toArray();
            lines.addAll(Messages.lines(args[at], numbers[0], numbers[1], numbers[2]));
        }
        JsonLines.save(Path.of(args[0]), args[1], lines);
    }
}
