# Keeps a Docker and a Podman of our own, in the folder that is the argument, until the standard
# input ends. That it does when whoever started this is gone, in whatever way, so nothing is left
# behind. Both engines are children of this shell: their ids cannot be anybody else's.
set -u
# Only the end of the input ends it.
trap : INT HUP TERM
cd "$1" || exit 1

# Without a bridge and rules for the firewall the machine's network stays as it is.
dockerd --iptables=false --ip-masq=false --bridge=none --shutdown-timeout 2 \
    --data-root "$1/docker/data" --exec-root "$1/docker/exec" --pidfile "$1/docker.pid" \
    --host "unix://$1/docker.sock" >docker.log 2>&1 &
docker=$!

# crun does not run on machines with both kinds of cgroups, and Podman's own limits are above what
# root may ask for in a container. The locks are in a file because those in memory are shared with
# every other Podman of the machine. What watches a command stays only seconds after its end, not the
# usual five minutes: there are hundreds of commands.
cat >containers.conf <<END
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
exit_command_delay = 10
lock_type = "file"
END
cat >storage.conf <<END
[storage]
graphroot = "$1/podman/storage"
runroot = "$1/podman/run"
END
export CONTAINERS_CONF="$1/containers.conf" CONTAINERS_STORAGE_CONF="$1/storage.conf"
podman --tmpdir "$1/podman/tmp" system service --time=0 "unix://$1/podman.sock" >podman.log 2>&1 &
podman=$!

cat >/dev/null

# Docker ends its containers itself, but takes ten seconds for those that do not listen. Those of
# Podman do not depend on the service at all.
if command -v docker >/dev/null; then
    docker --host "unix://$1/docker.sock" ps --all --quiet |
        xargs -r docker --host "unix://$1/docker.sock" rm --force >>docker.log 2>&1
fi
podman --tmpdir "$1/podman/tmp" rm --all --force --time 0 >>podman.log 2>&1
kill "$docker" "$podman" 2>/dev/null
tries=100
while kill -0 "$docker" 2>/dev/null || kill -0 "$podman" 2>/dev/null; do
    tries=$((tries - 1))
    if [ "$tries" = 0 ]; then
        kill -9 "$docker" "$podman" 2>/dev/null
        break
    fi
    sleep 0.2
done
wait
# Those who watched the last commands would start Podman again when their time is up.
for process in /proc/[0-9]*; do
    if tr '\0' '\n' 2>/dev/null <"$process/cmdline" | grep -q "^$1/podman/"; then
        kill -9 "${process#/proc/}" 2>/dev/null
    fi
done 2>/dev/null

# Only an engine that had to be killed leaves mounts.
awk -v folder="$1/" 'index($2, folder) == 1 { print $2 }' /proc/mounts | sort -r |
    xargs -r umount --lazy
cd / && rm -rf --one-file-system "$1"
