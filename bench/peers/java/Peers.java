import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** The same measurements as the Go program, with Kafka's own client. See main.go for what they are. */
public class Peers {
    static final long SETTLED = 6000;
    static String broker;
    static String protocol;

    /** What the members of one group own, and when records came. All times are of System.nanoTime. */
    static class Tracker {
        private final Map<Integer, Set<Integer>> owned = new HashMap<>();
        private final Map<Integer, Long> last = new HashMap<>();
        private final Map<Integer, Long> pauses = new HashMap<>();
        private Map<Integer, Integer> want;
        private long since; // when what is wanted came true; 0 if it is not
        private boolean measuring;
        long records;

        synchronized void edit(int member, Consumer<Set<Integer>> change) {
            change.accept(owned.computeIfAbsent(member, m -> new HashSet<>()));
            look();
        }

        synchronized void record(int partition) {
            long now = System.nanoTime();
            if (++records == 1) look();
            Long before = last.put(partition, now);
            if (before != null && measuring) pauses.merge(partition, now - before, Math::max);
        }

        private void look() {
            boolean met = met();
            if (met == (since != 0)) return;
            since = met ? System.nanoTime() : 0;
            notifyAll();
        }

        private boolean met() {
            if (want == null || records == 0) return false;
            Set<Integer> seen = new HashSet<>();
            for (var w : want.entrySet()) {
                Set<Integer> has = owned.getOrDefault(w.getKey(), Set.of());
                if (has.size() != w.getValue()) return false;
                for (int p : has) if (!seen.add(p)) return false;
            }
            return true;
        }

        /** Waits until what is wanted has been true for so long, and returns since when. */
        synchronized long await(Map<Integer, Integer> wanted, long holdMillis) throws InterruptedException {
            want = wanted;
            since = 0;
            look();
            long give = System.nanoTime() + 120_000_000_000L;
            while (true) {
                long now = System.nanoTime();
                if (since != 0 && now - since >= holdMillis * 1_000_000) return since;
                if (now > give) throw new IllegalStateException("it has not come about in time");
                long left = since == 0 ? give - now : since + holdMillis * 1_000_000 - now;
                wait(left / 1_000_000 + 1);
            }
        }

        synchronized Set<Integer> partitions(int member) {
            return new HashSet<>(owned.getOrDefault(member, Set.of()));
        }

        synchronized void measure(boolean on) {
            measuring = on;
        }

        synchronized double longest(Set<Integer> of, boolean within) {
            long most = 0;
            for (var p : pauses.entrySet()) if (of.contains(p.getKey()) == within) most = Math.max(most, p.getValue());
            return most / 1e6;
        }
    }

    /** Starts a member; what it returns closes it. */
    static Runnable start(int member, String topic, String group, Tracker t) {
        Properties p = new Properties();
        p.put("bootstrap.servers", broker);
        p.put("group.id", group);
        p.put("auto.offset.reset", "earliest");
        p.put("session.timeout.ms", 45000);
        p.put("heartbeat.interval.ms", 3000);
        p.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer."
            + (protocol.equals("eager") ? "RangeAssignor" : "CooperativeStickyAssignor"));
        var consumer = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Thread thread = new Thread(() -> {
            consumer.subscribe(List.of(topic), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> parts) {
                    t.edit(member, owned -> parts.forEach(x -> owned.add(x.partition())));
                }

                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> parts) {
                    t.edit(member, owned -> parts.forEach(x -> owned.remove(x.partition())));
                }
            });
            try {
                while (true) for (var r : consumer.poll(Duration.ofMillis(500))) t.record(r.partition());
            } catch (WakeupException e) {
                consumer.close();
            }
        });
        thread.start();
        return () -> {
            consumer.wakeup();
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };
    }

    static synchronized void tell(int run, String name, double millis, String error) {
        System.out.printf(Locale.ROOT, "{\"Client\":\"java\",\"Protocol\":\"%s\",\"Name\":\"%s\",\"Run\":%d,\"Millis\":%.4f%s}%n",
            protocol, name, run, millis, error.isEmpty() ? "" : ",\"Error\":\"" + error.replaceAll("[\"\\\\\n]", "'") + "\"");
    }

    static double millis(long from, long to) {
        return (to - from) / 1e6;
    }

    static void sleepUntil(long at) throws InterruptedException {
        long left = (at - System.nanoTime()) / 1_000_000;
        if (left > 0) Thread.sleep(left);
    }

    static void pair(String topic, String group, int run, long phase) throws Exception {
        Tracker t = new Tracker();
        long begin = System.nanoTime();
        Runnable first = start(1, topic, group, t);
        long at = t.await(Map.of(1, 12), 0);
        tell(run, "first", millis(begin, at), "");
        sleepUntil(at + (SETTLED + phase) * 1_000_000);

        Set<Integer> stayed = t.partitions(1);
        t.measure(true);
        begin = System.nanoTime();
        Runnable second = start(2, topic, group, t);
        at = t.await(Map.of(1, 6, 2, 6), 1000);
        tell(run, "join", millis(begin, at), "");
        t.measure(false);
        stayed.retainAll(t.partitions(1));
        if (protocol.equals("eager")) {
            tell(run, "moved", Math.max(t.longest(stayed, true), t.longest(stayed, false)), "");
        } else {
            tell(run, "kept", t.longest(stayed, true), "");
            tell(run, "moved", t.longest(stayed, false), "");
        }
        sleepUntil(at + (SETTLED + phase) * 1_000_000);

        long leaving = System.nanoTime();
        double[] took = new double[1];
        Thread closer = new Thread(() -> {
            second.run();
            took[0] = millis(leaving, System.nanoTime());
        });
        closer.start();
        tell(run, "leave", millis(leaving, t.await(Map.of(1, 12), 500)), "");
        closer.join();
        tell(run, "close", took[0], "");
        first.run();
    }

    static void crowd(String topic, String group, int run) throws Exception {
        Tracker t = new Tracker();
        t.records = 1; // there are none to wait for
        Map<Integer, Integer> want = new HashMap<>();
        Runnable[] members = new Runnable[20];
        List<Thread> threads = new ArrayList<>();
        long begin = System.nanoTime();
        for (int i = 0; i < members.length; i++) {
            int id = i;
            want.put(i, 5);
            threads.add(new Thread(() -> members[id] = start(id, topic, group, t)));
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        tell(run, "crowd", millis(begin, t.await(want, 1500)), "");
        threads.clear();
        begin = System.nanoTime();
        for (Runnable close : members) threads.add(new Thread(close));
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        tell(run, "disperse", millis(begin, System.nanoTime()), "");
    }

    /** Arguments: CASE PROTOCOL BROKER, then TOPIC,GROUP,RUN,PHASE for each group. */
    public static void main(String[] args) throws Exception {
        protocol = args[1];
        broker = args[2];
        List<Thread> threads = new ArrayList<>();
        for (int i = 3; i < args.length; i++) {
            String[] g = args[i].split(",");
            int run = Integer.parseInt(g[2]);
            Thread thread = new Thread(() -> {
                try {
                    if (args[0].equals("crowd")) crowd(g[0], g[1], run);
                    else pair(g[0], g[1], run, Long.parseLong(g[3]));
                } catch (Exception e) {
                    tell(run, args[0], 0, e.toString());
                }
            });
            thread.start();
            threads.add(thread);
            Thread.sleep(750);
        }
        for (Thread thread : threads) thread.join();
        System.exit(0);
    }
}
