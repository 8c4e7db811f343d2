import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/** Files of fixtures: a JSON object a line, compressed. */
final class JsonLines {
    private JsonLines() { }

    static void save(Path folder, String name, List<ObjectNode> lines) throws IOException {
        Files.createDirectories(folder);
        OutputStream file = new GZIPOutputStream(Files.newOutputStream(folder.resolve(name + ".jsonl.gz")));
        try (Writer writer = new OutputStreamWriter(file, StandardCharsets.UTF_8)) {
            for (ObjectNode line : lines) writer.write(line + "\n");
        }
    }
}
