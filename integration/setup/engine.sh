# shellcheck shell=bash
# Finds a Docker engine that answers, or installs and starts one.

engine_answers() {
	timeout 20 docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# ensure_engine sets DOCKER_HOST to an engine that answers.
ensure_engine() {
	if find_engine; then
		return
	fi
	own_host_allowed ||
		fail "no Docker engine answers at DOCKER_HOST=$DOCKER_HOST: start it, or unset DOCKER_HOST"
	is_debian_root ||
		fail "no Docker engine answers: install and start Docker (we do it ourselves only as root on Debian)"
	# iptables: the engine publishes ports with it.
	if ! command -v dockerd >/dev/null || ! command -v docker >/dev/null || ! command -v iptables >/dev/null; then
		step install the Docker engine -- install docker.io iptables
		if find_engine; then # where services start as they are installed
			return
		fi
	fi
	export DOCKER_HOST=$engine_host
	step start the Docker engine -- launch_engine
}

find_engine() {
	if engine_answers; then
		DOCKER_HOST=$(docker context inspect --format '{{.Endpoints.docker.Host}}')
	elif own_host_allowed && DOCKER_HOST=$engine_host engine_answers; then
		DOCKER_HOST=$engine_host
	else
		return 1
	fi
	export DOCKER_HOST
}

# own_host_allowed is false if the user has named another engine.
own_host_allowed() {
	[[ ${DOCKER_HOST:-$engine_host} == "$engine_host" ]]
}

launch_engine() {
	local pid
	mkdir -p "$engine_run"
	own_engine_pid >/dev/null || rm -f "$engine_pid"
	# A session of its own, so that Ctrl-C in make does not reach it; without
	# descriptor 9, so that it does not keep our lock.
	setsid dockerd --host "$engine_host" --data-root "$cache/docker" --exec-root "$engine_run/exec" \
		--pidfile "$engine_pid" >"$engine_log" 2>&1 </dev/null 9>&- &
	pid=$!
	for _ in {1..120}; do
		if engine_answers; then
			return
		fi
		if ! kill -0 "$pid" 2>/dev/null; then
			break
		fi
		sleep 0.5
	done
	tail -n 20 "$engine_log"
	return 1
}

# own_engine_pid prints the process ID of the engine that we started, if it
# still runs.
own_engine_pid() {
	local pid
	pid=$(cat "$engine_pid" 2>/dev/null) &&
		[[ $(cat "/proc/$pid/comm" 2>/dev/null) == dockerd ]] &&
		echo "$pid"
}
