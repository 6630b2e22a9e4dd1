import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.TopicPartition;

/** Runs Kafka's own assignors by name. */
final class Assignors {
    private Assignors() {}

    static ConsumerPartitionAssignor create(String name) {
        return switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "cooperative-sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException("no assignor is named " + name);
        };
    }

    /**
     * The plan that the group arrives at. A cooperative one leaves out what must be given up first, so
     * rounds follow until nothing is missing. The group then owns what the last round but one gave it.
     */
    static Map<String, List<TopicPartition>> plan(String name, RandomGroup group) {
        Map<String, List<TopicPartition>> plan = round(name, group);
        for (int i = 0; i < 4 && size(plan) < group.subscribed(); i++) {
            group.own(plan, 100 + i);
            plan = round(name, group);
        }
        return plan;
    }

    private static long size(Map<String, List<TopicPartition>> plan) {
        return plan.values().stream().mapToLong(List::size).sum();
    }

    private static Map<String, List<TopicPartition>> round(String name, RandomGroup group) {
        if (group.members.isEmpty()) {
            return Map.of(); // most of Java's assignors throw
        }
        Map<String, Subscription> subscriptions = new HashMap<>();
        group.members.forEach(m -> subscriptions.put(m.id, subscription(name, m)));
        Map<String, List<TopicPartition>> plan = new HashMap<>();
        create(name).assign(group.cluster(), new GroupSubscription(subscriptions)).groupAssignment()
            .forEach((id, assignment) -> plan.put(id, assignment.partitions()));
        return plan;
    }

    private static Subscription subscription(String name, RandomGroup.Member m) {
        ByteBuffer userData = null;
        if (!m.owned.isEmpty()) {
            userData = userData(create(name), m.owned, m.generation);
        }
        List<TopicPartition> owned = name.equals("cooperative-sticky") ? m.owned : List.of(); // the others are eager
        Subscription subscription = new Subscription(m.topics, userData, owned, m.generation, Optional.ofNullable(m.rack));
        subscription.setGroupInstanceId(Optional.ofNullable(m.instance));
        return subscription;
    }

    /** What the member's own assignor adds to its subscription after it has been given some partitions. */
    @SuppressWarnings("removal")
    static ByteBuffer userData(ConsumerPartitionAssignor assignor, List<TopicPartition> owned, int generation) {
        assignor.onAssignment(new Assignment(owned), new ConsumerGroupMetadata("group", generation, "member", Optional.empty()));
        return assignor.subscriptionUserData(new HashSet<>());
    }
}
