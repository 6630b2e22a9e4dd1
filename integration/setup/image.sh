# shellcheck shell=bash
# Finds an image with Kafka in it, or builds one: Java on the path, the jars of
# Kafka and of its tools in /opt/kafka/libs. Nothing else is asked of an image.

kafka_version=4.4.0
public_image=apache/kafka:$kafka_version

# ensure_image sets KAFKA_IMAGE to an image that the engine has.
ensure_image() {
	local own
	own=$(own_image)
	if [[ -n ${KAFKA_IMAGE:-} ]]; then
		has_image "$KAFKA_IMAGE" || step pull "$KAFKA_IMAGE" -- docker pull "$KAFKA_IMAGE"
	elif has_image "$public_image"; then
		KAFKA_IMAGE=$public_image
	elif has_image "$own"; then
		KAFKA_IMAGE=$own
	elif timeout 300 docker pull -q "$public_image" >/dev/null 2>&1; then
		KAFKA_IMAGE=$public_image
	else
		echo "setup: $public_image cannot be pulled, building $own" >&2
		build_own_image "$own"
		KAFKA_IMAGE=$own
	fi
	export KAFKA_IMAGE
	echo "setup: Kafka image $KAFKA_IMAGE" >&2
}

has_image() {
	docker image inspect "$1" >/dev/null 2>&1
}

# own_image and base_image name what we build after the files it is built from.
own_image() {
	echo "muster-kafka:$kafka_version-$(digest "$here"/{base.sh,image.sh,kafka/*})"
}

base_image() {
	echo "muster-kafka-base:$(codename)-$(digest "$here/base.sh")"
}

digest() {
	cat "$@" | sha256sum | cut -c 1-12
}

# build_own_image TAG
build_own_image() {
	local base missing=()
	base=$(base_image)
	is_debian_root ||
		fail "an image is built as root on Debian only: give one in KAFKA_IMAGE, or let docker pull $public_image"
	command -v debootstrap >/dev/null || missing+=(debootstrap)
	command -v mvn >/dev/null || missing+=(maven default-jre-headless)
	if ((${#missing[@]})); then
		step install "${missing[@]}" -- install "${missing[@]}"
	fi
	has_image "$base" || step build the base with Java -- build_base "$base"
	step fetch the jars of Kafka "$kafka_version" -- fetch_jars
	step build "$1" -- build_image "$1" "$base"
}

fetch_jars() {
	rm -rf "$cache/image"
	mkdir -p "$cache/image"
	mvn -B -f "$here/kafka/pom.xml" -Dkafka.version="$kafka_version" \
		org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory="$cache/image/libs"
}

# build_image TAG BASE uses the classic builder, which needs no plug-in.
build_image() {
	cp "$here"/kafka/* "$cache/image" || return
	DOCKER_BUILDKIT=0 docker build --force-rm --build-arg BASE="$2" -t "$1" "$cache/image"
}
