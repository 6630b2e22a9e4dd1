# shellcheck shell=bash
# What the other scripts of this folder share.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/muster-integration

# The engine that we start ourselves, apart from any other on this machine.
engine_run=/run/muster-integration
engine_host=unix://$engine_run/docker.sock
engine_pid=$engine_run/dockerd.pid
engine_log=$cache/dockerd.log

fail() {
	echo "setup: $*" >&2
	exit 1
}

# step WORDS -- COMMAND runs a command and says how long it took. Its output
# is shown only if it fails.
step() {
	local words=() begin=$SECONDS log
	while [[ $1 != -- ]]; do
		words+=("$1")
		shift
	done
	shift
	log=$(mktemp)
	if ! "$@" >"$log" 2>&1 </dev/null; then
		tail -n 40 "$log" >&2
		rm -f "$log"
		fail "${words[*]}: failed after $((SECONDS - begin)) s"
	fi
	rm -f "$log"
	echo "setup: ${words[*]}: $((SECONDS - begin)) s" >&2
}

is_debian_root() {
	[[ $EUID -eq 0 ]] && command -v apt-get >/dev/null
}

# install PACKAGE... by apt, with fresh lists.
install() {
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq &&
		apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"
}
