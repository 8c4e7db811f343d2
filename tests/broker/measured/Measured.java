import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.stats.Avg;
import org.apache.kafka.common.metrics.stats.Max;
import org.apache.kafka.common.metrics.stats.Rate;
import org.apache.kafka.common.metrics.stats.WindowedCount;

/**
 * What Kafka's own statistics say of events: a line in is "time:value ... | time ...", a line out has, for each time that
 * is asked at, average, greatest, count a second, sum a second and count an hour.
 */
public final class Measured {
    public static void main(String[] arguments) throws Exception {
        MetricConfig config = new MetricConfig();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Avg average = new Avg();
            Max greatest = new Max();
            Rate counted = new Rate(new WindowedCount());
            Rate summed = new Rate();
            Rate hourly = new Rate(TimeUnit.HOURS, new WindowedCount());
            String[] sides = line.split("\\|");
            for (String event : sides[0].trim().split(" ")) {
                long at = Long.parseLong(event.split(":")[0]);
                double value = Double.parseDouble(event.split(":")[1]);
                average.record(config, value, at);
                greatest.record(config, value, at);
                counted.record(config, value, at);
                summed.record(config, value, at);
                hourly.record(config, value, at);
            }
            StringBuilder out = new StringBuilder();
            for (String asked : sides[1].trim().split(" ")) {
                long now = Long.parseLong(asked);
                out.append(average.measure(config, now)).append(' ').append(greatest.measure(config, now)).append(' ')
                    .append(counted.measure(config, now)).append(' ').append(summed.measure(config, now)).append(' ')
                    .append(hourly.measure(config, now)).append(' ');
            }
            System.out.println(out.toString().trim());
        }
    }
}
