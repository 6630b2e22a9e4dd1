import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;

/**
 * Prints random groups and the plans that Java's own assignors make for them, as a script of the kind in
 * assign/testdata. Groups of the sticky kinds come in pairs: the second is the first after it has
 * followed its plan and then changed. Where Java fails, its error stands in place of the plan.
 *
 * <p>Usage: java -cp CLASSES:JARS Plans ASSIGNOR COUNT SEED. Equal arguments give equal output.
 */
public class Plans {
    private static final Comparator<TopicPartition> ORDER =
        Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition);

    private final StringBuilder out = new StringBuilder();

    public static void main(String[] args) {
        String assignor = args[0];
        int count = Integer.parseInt(args[1]);
        long seed = Long.parseLong(args[2]);
        Plans plans = new Plans();
        for (int i = 0; i < count; i++) {
            RandomGroup group = new RandomGroup(new Random(seed * 1_000_003 + i));
            Map<String, List<TopicPartition>> plan = plans.print(assignor, group);
            if (assignor.endsWith("sticky") && plan != null && ++i < count) {
                group.own(plan, 200);
                group.change();
                plans.print(assignor, group);
            }
        }
        System.out.print(plans.out);
    }

    private Map<String, List<TopicPartition>> print(String assignor, RandomGroup group) {
        out.append("group\n");
        group.topics.forEach((topic, racks) -> {
            out.append("topic ").append(topic).append(' ').append(racks.size());
            racks.forEach(here -> out.append(' ').append(here.isEmpty() ? "-" : String.join(",", here)));
            out.append('\n');
        });
        group.members.forEach(this::print);
        out.append("----\n\n").append(assignor).append("\n----\n");
        Map<String, List<TopicPartition>> plan;
        try {
            plan = Assignors.plan(assignor, group);
        } catch (RuntimeException e) { // Java's sticky assignors are not free of faults
            out.append("Java fails: ").append(e.getClass().getSimpleName()).append("\n\n");
            return null;
        }
        plan.keySet().stream()
            .sorted((a, b) -> Arrays.compare(a.codePoints().toArray(), b.codePoints().toArray()))
            .forEach(id -> out.append(escape(id)).append(": ").append(share(plan.get(id))).append('\n'));
        out.append('\n');
        return plan;
    }

    private void print(RandomGroup.Member m) {
        out.append("member ").append(escape(m.id));
        out.append(' ').append(m.topics.isEmpty() ? "-" : String.join(",", m.topics));
        out.append(m.instance == null ? "" : " instance=" + m.instance);
        out.append(m.rack == null ? "" : " rack=" + m.rack);
        if (!m.owned.isEmpty()) {
            out.append(" owns=").append(claims(m.owned)).append(" generation=").append(m.generation);
        }
        out.append('\n');
    }

    static String claims(List<TopicPartition> owned) {
        Map<String, List<String>> byTopic = new TreeMap<>();
        owned.stream().sorted(ORDER).forEach(tp ->
            byTopic.computeIfAbsent(tp.topic(), t -> new ArrayList<>()).add(Integer.toString(tp.partition())));
        return byTopic.entrySet().stream()
            .map(e -> e.getKey() + ":" + String.join(",", e.getValue()))
            .collect(Collectors.joining("/"));
    }

    private static String share(List<TopicPartition> partitions) {
        return partitions.isEmpty() ? "-" : partitions.stream()
            .sorted(ORDER).map(TopicPartition::toString).collect(Collectors.joining(" "));
    }

    private static String escape(String id) {
        return id.codePoints()
            .mapToObj(c -> c < 0x80 ? Character.toString(c) : String.format(c < 0x10000 ? "\\u%04x" : "\\U%08x", c))
            .collect(Collectors.joining());
    }
}
