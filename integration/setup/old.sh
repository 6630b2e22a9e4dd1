# shellcheck shell=bash
# Builds an image with older brokers beside the newest: the jars of each version
# in /opt/kafka-old/VERSION/libs. A broker before 3.3 needs a ZooKeeper, whose
# jars are among them.

old_versions=(2.4.1 2.8.2 3.3.2 3.9.2)

# ensure_old_versions sets KAFKA_OLD_IMAGE and KAFKA_OLD_VERSIONS. It goes on
# without them where they cannot be had: only tests that need them are skipped
# then, or fail where CI=true.
ensure_old_versions() {
	KAFKA_OLD_IMAGE=$(old_image)
	KAFKA_OLD_VERSIONS=${old_versions[*]}
	if ! has_image "$KAFKA_OLD_IMAGE" && ! (build_old_image "$KAFKA_OLD_IMAGE"); then
		echo "setup: no older brokers, so no tests with Kafka $KAFKA_OLD_VERSIONS" >&2
		KAFKA_OLD_IMAGE='' KAFKA_OLD_VERSIONS=''
	fi
	export KAFKA_OLD_IMAGE KAFKA_OLD_VERSIONS
}

# old_image names what we build after what it is built from.
old_image() {
	echo "muster-kafka-old:$({ echo "$KAFKA_IMAGE" && cat "$here"/{old.sh,kafka-old/*}; } | digest -)"
}

# build_old_image TAG takes Java from the image of the newest version.
build_old_image() {
	local version
	if ! command -v mvn >/dev/null; then
		is_debian_root || fail "Maven fetches the jars of older brokers: install it (we do it ourselves only as root on Debian)"
		step install Maven -- install maven default-jre-headless
	fi
	rm -rf "$cache/old"
	mkdir -p "$cache/old"
	for version in "${old_versions[@]}"; do
		step fetch the jars of Kafka "$version" -- fetch_old_jars "$version"
	done
	step build "$1" -- build_old "$1"
	rm -rf "$cache/old"
}

fetch_old_jars() {
	mvn -B -f "$here/kafka-old/pom.xml" -Dkafka.version="$1" \
		org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory="$cache/old/versions/$1/libs"
}

# build_old TAG uses the classic builder, which needs no plug-in.
build_old() {
	cp "$here/kafka-old/Dockerfile" "$cache/old" || return
	DOCKER_BUILDKIT=0 docker build --force-rm --build-arg BASE="$KAFKA_IMAGE" -t "$1" "$cache/old"
}
