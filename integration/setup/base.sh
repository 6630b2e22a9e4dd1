# shellcheck shell=bash
# Builds the base of the local image: a minimal Debian with a Java runtime, from
# the mirror that this machine's own apt sources name.

# build_base TAG
build_base() {
	local root
	root=$(mktemp -d)
	# shellcheck disable=SC2064 # root is known now and not later
	trap "rm -rf '$root'" EXIT
	debootstrap --variant=minbase --include=default-jre-headless "$(codename)" "$root" "$(mirror)" || return
	rm -rf "$root"/var/cache/apt "$root"/var/lib/apt/lists "$root"/usr/share/{doc,locale,man}
	tar -C "$root" -c . | docker import - "$1" || return
	rm -rf "$root"
	trap - EXIT
}

codename() {
	(
		# shellcheck source=/dev/null
		source /etc/os-release
		echo "$VERSION_CODENAME"
	)
}

# mirror prints where this machine gets the main component of its own release.
mirror() {
	# shellcheck disable=SC2016 # $(SITE) is apt's
	apt-get indextargets --format '$(SITE)' "Codename: $(codename)" "Component: main" "Created-By: Packages" |
		head -n 1
}
