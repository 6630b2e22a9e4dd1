#!/usr/bin/env bash
# Runs a broker and its tools for a moment and archives the classes that they
# load, each program's in /opt/kafka/classes/CLASS.jsa. With
# -XX:SharedArchiveFile they start on half of the work.
set -euo pipefail
cd /opt/kafka
mkdir -p classes
flags=(-XX:+UseSerialGC -XX:TieredStopAtLevel=1)

# archive CLASS ARGUMENT... replaces the shell that calls it.
archive() {
	exec java "${flags[@]}" -XX:ArchiveClassesAtExit="classes/$1.jsa" -cp '/opt/kafka/libs/*' "$@"
}

answers() {
	(: </dev/tcp/127.0.0.1/9092) 2>/dev/null
}

(archive kafka.tools.StorageTool format -t Ib7aVd9nQ3Om4m5Y2yZQxw -c archive.properties)
archive kafka.Kafka archive.properties &
for _ in {1..240}; do
	answers && break
	sleep 0.5
done
to=(--bootstrap-server 127.0.0.1:9092 --topic any)
echo record | archive org.apache.kafka.tools.ConsoleProducer "${to[@]}" --request-timeout-ms 30000
(archive org.apache.kafka.tools.consumer.ConsoleConsumer "${to[@]}" --from-beginning --max-messages 1)
kill %1
wait %1 || [[ $? -eq 143 ]] # ended by our signal
rm -rf /tmp/archive
[[ -e classes/kafka.Kafka.jsa ]]
