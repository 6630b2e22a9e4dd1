import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** A group of members and the topics they may read. Equal seeds make equal groups. */
class RandomGroup {
    private static final String[] RACKS = {"a", "b", "c", "d"};
    private static final int[] LETTERS = {'a', 'b', 'c', 0xd7ff, 0xff21, 0x1f600};

    final List<Member> members = new ArrayList<>();
    /** By topic, by partition, the racks of the replicas. */
    final Map<String, List<List<String>>> topics = new TreeMap<>();

    private final Random random;
    private final boolean brokersHaveRacks;
    private final boolean membersHaveRacks;

    RandomGroup(Random random) {
        this.random = random;
        brokersHaveRacks = random.nextInt(4) > 0;
        membersHaveRacks = random.nextInt(4) > 0;
        int usual = random.nextInt(13);
        for (int i = random.nextInt(6); i > 0; i--) {
            int count = random.nextBoolean() ? usual : random.nextInt(13);
            topics.put("t" + i, replicaRacks(count));
        }
        for (int i = random.nextInt(9); i > 0; i--) {
            add(member(i));
        }
    }

    private void add(Member member) {
        if (members.stream().noneMatch(m -> m.id.equals(member.id))) {
            members.add(member);
        }
    }

    /** The racks of each partition's replicas. Some are unknown, some topics have all everywhere. */
    private List<List<String>> replicaRacks(int count) {
        int used = 1 + random.nextInt(RACKS.length);
        boolean everywhere = random.nextInt(6) == 0;
        List<List<String>> racks = new ArrayList<>();
        for (int p = 0; p < count; p++) {
            List<String> here = new ArrayList<>();
            for (int i = 0; brokersHaveRacks && i < used; i++) {
                if (everywhere || random.nextInt(3) == 0) {
                    here.add(RACKS[i]);
                }
            }
            Collections.shuffle(here, random);
            racks.add(here);
        }
        return racks;
    }

    private Member member(int number) {
        Member member = new Member();
        StringBuilder id = new StringBuilder();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            id.appendCodePoint(LETTERS[random.nextInt(LETTERS.length)]);
        }
        member.id = id.toString();
        if (random.nextInt(3) == 0) {
            member.instance = "i" + (number * 7 % 10);
        }
        if (membersHaveRacks && random.nextInt(5) > 0) {
            member.rack = RACKS[random.nextInt(RACKS.length)];
        }
        subscribe(member);
        return member;
    }

    private void subscribe(Member member) {
        member.topics.clear();
        int skip = random.nextInt(3) == 0 ? 3 : 0;
        for (int t = 1; t <= 6; t++) { // t6 never exists
            if (skip == 0 || random.nextInt(skip) > 0) {
                member.topics.add("t" + t);
            }
        }
    }

    /** Every member takes what the plan gives it. */
    void own(Map<String, List<TopicPartition>> plan, int generation) {
        for (Member m : members) {
            m.owned = new ArrayList<>(plan.get(m.id));
            m.generation = generation;
        }
    }

    /** One or two things happen to the group that make it rebalance. Partitions do not vanish. */
    void change() {
        for (int i = 1 + random.nextInt(2); i > 0; i--) {
            Member some = members.isEmpty() ? null : members.get(random.nextInt(members.size()));
            switch (some == null ? 0 : random.nextInt(6)) {
                case 0 -> add(member(20 + i));
                case 1 -> members.remove(some);
                case 2 -> subscribe(some);
                case 3 -> topics.values().stream().findAny().ifPresent(racks -> racks.addAll(replicaRacks(1 + random.nextInt(3))));
                case 4 -> some.owned.subList(some.owned.size() / 2, some.owned.size()).clear();
                default -> comeBack(some);
            }
        }
    }

    /** A member missed some rounds and claims what others may own by now. */
    private void comeBack(Member member) {
        member.generation = random.nextInt(3) == 0 ? member.generation : member.generation - 1;
        for (TopicPartition tp : partitions()) {
            if (member.topics.contains(tp.topic()) && !member.owned.contains(tp) && random.nextInt(4) == 0) {
                member.owned.add(tp);
            }
        }
    }

    private List<TopicPartition> partitions() {
        List<TopicPartition> all = new ArrayList<>();
        topics.forEach((topic, racks) -> {
            for (int p = 0; p < racks.size(); p++) {
                all.add(new TopicPartition(topic, p));
            }
        });
        return all;
    }

    /** How many partitions have a member that subscribes to them. */
    long subscribed() {
        return partitions().stream().filter(tp -> members.stream().anyMatch(m -> m.topics.contains(tp.topic()))).count();
    }

    Cluster cluster() {
        Map<String, Node> brokers = new HashMap<>();
        for (String rack : RACKS) {
            brokers.put(rack, new Node(brokers.size(), "localhost", 9092, rack));
        }
        Node unracked = new Node(99, "localhost", 9092);
        List<PartitionInfo> partitions = new ArrayList<>();
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
        return new Cluster("test", nodes, partitions, Set.of(), Set.of());
    }

    static class Member {
        String id;
        String instance;
        String rack;
        final List<String> topics = new ArrayList<>();
        List<TopicPartition> owned = new ArrayList<>();
        int generation = -1;
    }
}
