import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;

/** A broker's plug-in that appends what clients push (KIP-714) to {@code telemetry.file}, each push after its length. */
public class TelemetryFile implements MetricsReporter, ClientTelemetry {
    private String path;

    @Override
    public void configure(Map<String, ?> settings) {
        path = String.valueOf(settings.get("telemetry.file"));
    }

    @Override
    public ClientTelemetryReceiver clientReceiver() {
        return (context, payload) -> append(payload.data().duplicate());
    }

    private synchronized void append(ByteBuffer push) {
        byte[] bytes = new byte[push.remaining()];
        push.get(bytes);
        try (DataOutputStream out = new DataOutputStream(new FileOutputStream(path, true))) {
            out.writeInt(bytes.length);
            out.write(bytes);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    public void init(List<KafkaMetric> metrics) {}

    @Override
    public void metricChange(KafkaMetric metric) {}

    @Override
    public void metricRemoval(KafkaMetric metric) {}

    @Override
    public void close() {}
}
