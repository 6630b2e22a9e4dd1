# shellcheck shell=bash
# Finds kcat, a consumer of librdkafka to be a member of our groups, or installs it.

# ensure_kcat goes on without kcat where it cannot be had: only tests that need it
# are skipped then, or fail where CI=true.
ensure_kcat() {
	if command -v kcat >/dev/null; then
		return
	fi
	if ! is_debian_root; then
		echo "setup: no kcat, so no groups with members of librdkafka: install it (we do it ourselves only as root on Debian)" >&2
	elif ! (step install kcat -- install kcat); then
		echo "setup: no kcat, so no groups with members of librdkafka" >&2
	fi
}
