import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.TopicPartition;

/**
 * Compares what members of the sticky assignor tell their leader.
 *
 * <p>Usage: java -cp CLASSES:JARS StickyData write COUNT SEED prints claims and the bytes in which Java makes them;
 * StickyData read FILE checks that Java understands the bytes that we write, and fails if it does not.
 */
public class StickyData {
    public static void main(String[] args) throws IOException {
        if (args[0].equals("write")) {
            write(Integer.parseInt(args[1]), new Random(Long.parseLong(args[2])));
        } else {
            read(Files.readAllLines(Path.of(args[1])));
        }
    }

    private static void write(int count, Random random) {
        for (int i = 0; i < count; i++) {
            List<TopicPartition> owned = new ArrayList<>();
            for (int n = 1 + random.nextInt(12); n > 0; n--) {
                TopicPartition tp = new TopicPartition("t" + random.nextInt(5), random.nextInt(8));
                if (!owned.contains(tp)) {
                    owned.add(tp);
                }
            }
            int generation = random.nextInt(100);
            byte[] data = Assignors.userData(new StickyAssignor(), owned, generation).array();
            System.out.printf("java %s generation=%d%n----%n%s%n%n", Plans.claims(owned), generation, HexFormat.of().formatHex(data));
        }
    }

    /** Reads blocks of "ours CLAIMS generation=N", a line of dashes, and bytes in hex. */
    private static void read(List<String> lines) {
        int count = 0;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith("ours ")) {
                byte[] data = HexFormat.of().parseHex(lines.get(i + 2));
                String got = "ours " + new Reader().claims(data);
                if (!got.equals(lines.get(i))) {
                    System.err.printf("line %d: Java reads %s instead of %s%n", i + 1, got, lines.get(i));
                    System.exit(1);
                }
                count++;
            }
        }
        System.out.printf("Java understands %d claims of ours%n", count);
    }

    private static class Reader extends StickyAssignor {
        String claims(byte[] data) {
            MemberData member = memberData(new Subscription(List.of(), ByteBuffer.wrap(data)));
            if (new TreeSet<>(member.partitions.stream().map(TopicPartition::toString).toList()).size() != member.partitions.size()) {
                return "a partition twice";
            }
            return Plans.claims(member.partitions) + " generation=" + member.generation.orElse(-1);
        }
    }
}
