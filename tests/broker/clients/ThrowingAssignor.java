import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.Cluster;

/** The range assignor of a leader whose code is broken: it throws whenever it is to assign (KAFKA-13406 in the worst case). */
public class ThrowingAssignor extends RangeAssignor {
    @Override
    public GroupAssignment assign(Cluster metadata, GroupSubscription subscriptions) {
        throw new IllegalStateException("this assignor never assigns");
    }
}
