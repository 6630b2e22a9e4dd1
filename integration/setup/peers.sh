# shellcheck shell=bash
# Finds the clients in JavaScript and Python that are members of our groups, or
# installs them into the cache, in the versions that integration/peers names. Where
# some cannot be had, only tests that need them are skipped, or fail where CI=true.

peers=$here/../peers

# ensure_node_peers sets PEERS_NODE_MODULES to where Node.js finds the clients.
ensure_node_peers() {
	local home
	home=$cache/node-peers-$(digest "$peers/package.json")
	if [[ ! -e $home/complete ]] && ! { need_node && (step install clients for Node.js -- install_node_peers "$home"); }; then
		echo "setup: no clients for Node.js, so no groups with members of kafkajs" >&2
		return
	fi
	export PEERS_NODE_MODULES=$home/node_modules
}

need_node() {
	{ command -v node && command -v npm; } >/dev/null || need Node.js nodejs npm
}

# install_node_peers HOME
install_node_peers() {
	rm -rf "$1"
	mkdir -p "$1" &&
		cp "$peers/package.json" "$1" &&
		npm install --prefix "$1" --no-audit --no-fund --no-update-notifier &&
		touch "$1/complete"
}

# ensure_python_peers sets PEERS_PYTHON to a Python that has the clients.
ensure_python_peers() {
	local home
	home=$cache/python-peers-$(digest "$peers/requirements.txt")
	# They are tried: an environment breaks when its Python is replaced.
	if ! "$home/bin/python" -c 'import aiokafka, confluent_kafka' 2>/dev/null &&
		! { need_python && (step install clients for Python -- install_python_peers "$home"); }; then
		echo "setup: no clients for Python, so no groups with members of librdkafka and aiokafka" >&2
		return
	fi
	export PEERS_PYTHON=$home/bin/python
}

need_python() {
	python3 -c 'import ensurepip, venv' 2>/dev/null || need Python python3 python3-venv
}

# install_python_peers HOME
install_python_peers() {
	rm -rf "$1"
	python3 -m venv "$1" &&
		"$1/bin/pip" install --disable-pip-version-check -r "$peers/requirements.txt"
}

# need NAME PACKAGE... installs what is missing, as root on Debian.
need() {
	local name=$1
	shift
	if ! is_debian_root; then
		echo "setup: $name is missing: install $* (we do it ourselves only as root on Debian)" >&2
		return 1
	fi
	(step install "$name" -- install "$@")
}
