import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Prints random groups and the plans that Java's own range assignor makes for them, as
 * a script of the kind in assign/testdata.
 *
 * <p>Usage: java -cp JARS Plans.java COUNT SEED. Equal arguments give equal output.
 */
public class Plans {
    private static final String[] RACKS = {"a", "b", "c", "d"};
    private static final int[] LETTERS = {'a', 'b', 'c', 0xd7ff, 0xff21, 0x1f600};

    private final Random random;
    private final List<Member> members = new ArrayList<>();
    private final List<PartitionInfo> partitions = new ArrayList<>();
    private final Map<String, List<List<String>>> topics = new TreeMap<>();

    public static void main(String[] args) {
        int count = Integer.parseInt(args[0]);
        long seed = Long.parseLong(args[1]);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < count; i++) {
            Plans group = new Plans(new Random(seed * 1_000_003 + i));
            group.print(out);
        }
        System.out.print(out);
    }

    private Plans(Random random) {
        this.random = random;
        boolean brokersHaveRacks = random.nextInt(4) > 0;
        boolean membersHaveRacks = random.nextInt(4) > 0;
        int usual = random.nextInt(13);
        for (int i = random.nextInt(6); i > 0; i--) {
            int count = random.nextBoolean() ? usual : random.nextInt(13);
            topics.put("t" + i, replicaRacks(count, brokersHaveRacks));
        }
        Set<String> ids = new HashSet<>();
        for (int i = random.nextInt(9); i > 0; i--) {
            Member member = member(i, membersHaveRacks);
            if (ids.add(member.id)) {
                members.add(member);
            }
        }
    }

    /** The racks of each partition's replicas. Some are unknown, some topics have all everywhere. */
    private List<List<String>> replicaRacks(int count, boolean known) {
        int used = 1 + random.nextInt(RACKS.length);
        boolean everywhere = random.nextInt(6) == 0;
        List<List<String>> racks = new ArrayList<>();
        for (int p = 0; p < count; p++) {
            List<String> here = new ArrayList<>();
            for (int i = 0; known && i < used; i++) {
                if (everywhere || random.nextInt(3) == 0) {
                    here.add(RACKS[i]);
                }
            }
            Collections.shuffle(here, random);
            racks.add(here);
        }
        return racks;
    }

    private Member member(int number, boolean racked) {
        Member member = new Member();
        StringBuilder id = new StringBuilder();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            id.appendCodePoint(LETTERS[random.nextInt(LETTERS.length)]);
        }
        member.id = id.toString();
        if (random.nextInt(3) == 0) {
            member.instance = "i" + (number * 7 % 10);
        }
        if (racked && random.nextInt(5) > 0) {
            member.rack = RACKS[random.nextInt(RACKS.length)];
        }
        int skip = random.nextInt(3) == 0 ? 3 : 0;
        for (int t = 1; t <= 6; t++) { // t6 never exists
            if (skip == 0 || random.nextInt(skip) > 0) {
                member.topics.add("t" + t);
            }
        }
        return member;
    }

    private Map<String, List<TopicPartition>> plan() {
        Map<String, Node> brokers = new HashMap<>();
        for (String rack : RACKS) {
            brokers.put(rack, new Node(brokers.size(), "localhost", 9092, rack));
        }
        Node unracked = new Node(99, "localhost", 9092);
        topics.forEach((topic, racks) -> {
            for (int p = 0; p < racks.size(); p++) {
                List<Node> replicas = racks.get(p).stream().map(brokers::get).collect(Collectors.toList());
                replicas.add(unracked);
                Node[] array = replicas.toArray(new Node[0]);
                partitions.add(new PartitionInfo(topic, p, array[0], array, array));
            }
        });
        Set<Node> nodes = new HashSet<>(brokers.values());
        nodes.add(unracked);
        Cluster cluster = new Cluster("test", nodes, partitions, Set.of(), Set.of());
        Map<String, Subscription> subscriptions = new HashMap<>();
        members.forEach(m -> subscriptions.put(m.id, m.subscription()));
        Map<String, List<TopicPartition>> plan = new HashMap<>();
        new RangeAssignor().assign(cluster, new GroupSubscription(subscriptions)).groupAssignment()
            .forEach((id, assignment) -> plan.put(id, assignment.partitions()));
        return plan;
    }

    private void print(StringBuilder out) {
        out.append("group\n");
        topics.forEach((topic, racks) -> {
            out.append("topic ").append(topic).append(' ').append(racks.size());
            racks.forEach(here -> out.append(' ').append(here.isEmpty() ? "-" : String.join(",", here)));
            out.append('\n');
        });
        for (Member m : members) {
            out.append("member ").append(escape(m.id));
            out.append(' ').append(m.topics.isEmpty() ? "-" : String.join(",", m.topics));
            out.append(m.instance == null ? "" : " instance=" + m.instance);
            out.append(m.rack == null ? "" : " rack=" + m.rack).append('\n');
        }
        out.append("----\n\nrange\n----\n");
        Map<String, List<TopicPartition>> plan = plan();
        plan.keySet().stream()
            .sorted((a, b) -> Arrays.compare(a.codePoints().toArray(), b.codePoints().toArray()))
            .forEach(id -> out.append(escape(id)).append(": ").append(share(plan.get(id))).append('\n'));
        out.append('\n');
    }

    private static String share(List<TopicPartition> partitions) {
        return partitions.isEmpty() ? "-" : partitions.stream()
            .sorted((a, b) -> a.topic().equals(b.topic())
                ? Integer.compare(a.partition(), b.partition()) : a.topic().compareTo(b.topic()))
            .map(TopicPartition::toString)
            .collect(Collectors.joining(" "));
    }

    private static String escape(String id) {
        return id.codePoints()
            .mapToObj(c -> c < 0x80 ? Character.toString(c) : String.format(c < 0x10000 ? "\\u%04x" : "\\U%08x", c))
            .collect(Collectors.joining());
    }

    private static class Member {
        String id;
        String instance;
        String rack;
        final List<String> topics = new ArrayList<>();

        Subscription subscription() {
            Subscription subscription = new Subscription(topics, null, List.of(), -1, Optional.ofNullable(rack));
            subscription.setGroupInstanceId(Optional.ofNullable(instance));
            return subscription;
        }
    }
}
