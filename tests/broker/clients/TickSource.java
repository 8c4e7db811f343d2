import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** A connector of Kafka Connect whose tasks wait and give no record: a group of workers has something to assign. */
public class TickSource extends SourceConnector {
    private Map<String, String> settings = Map.of();

    @Override public void start(Map<String, String> given) {
        settings = given;
    }

    @Override public Class<? extends Task> taskClass() {
        return Tick.class;
    }

    @Override public List<Map<String, String>> taskConfigs(int most) {
        return IntStream.range(0, most).mapToObj(number -> settings).collect(Collectors.toList());
    }

    @Override public void stop() {
    }

    @Override public ConfigDef config() {
        return new ConfigDef();
    }

    @Override public String version() {
        return "1";
    }

    /** Its one task. */
    public static class Tick extends SourceTask {
        @Override public void start(Map<String, String> given) {
        }

        @Override public List<SourceRecord> poll() throws InterruptedException {
            Thread.sleep(1000);
            return Collections.emptyList();
        }

        @Override public void stop() {
        }

        @Override public String version() {
            return "1";
        }
    }
}
