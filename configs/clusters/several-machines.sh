#!/usr/bin/env bash
# Some machines that reach each other by name: a Ray cluster by `ray start`, used for as many runs as you like.
#
#     configs/clusters/several-machines.sh head               on the first machine; prints the command for the others
#     configs/clusters/several-machines.sh worker HEAD:6379   on every other machine
#     configs/clusters/several-machines.sh run set.parquet --out runs/first    on the first machine
#     configs/clusters/several-machines.sh stop               on every machine, when all is done
#
# Before: the same pnono, Python and Ray on each (see README.md), and the same token file, which is the key to the
# cluster. Make it once, then copy it to the other machines:
#
#     ray get-auth-token --generate && for host in B C; do ssh $host mkdir -p .ray; scp -p ~/.ray/auth_token $host:.ray/; done
#
# Ports: 6379 is that of the head; workers and object stores take others, of which PORTS keeps those of the workers
# together. All of them must be open between the machines, and closed to everyone else.
set -euo pipefail

PORTS=${PORTS:-10002-10999}
CPUS=${CPUS:-$(nproc)} # workers that this machine takes; on the head leave one core for the driver
BIN=${BIN:-} # the folder of `ray` and `pnono`, with a slash, if they are not in the PATH: BIN=.venv/bin/

export RAY_AUTH_MODE=token
export RAY_AUTH_TOKEN_PATH=${RAY_AUTH_TOKEN_PATH:-$HOME/.ray/auth_token}
export RAY_USAGE_STATS_ENABLED=0

[[ -s $RAY_AUTH_TOKEN_PATH ]] || { echo "no token in $RAY_AUTH_TOKEN_PATH: ray get-auth-token --generate" >&2; exit 69; }

start() {
    # The memory of rows on their way is small: 512 MiB are enough for dozens of workers.
    "${BIN}ray" start "$@" --num-cpus="$CPUS" --num-gpus=0 --object-store-memory=$((512 << 20)) \
        --min-worker-port="${PORTS%-*}" --max-worker-port="${PORTS#*-}" --disable-usage-stats
}

case ${1:-} in
head)
    # Without the dashboard nothing listens for jobs from outside; with it (ray[default]) `ray job submit` works.
    start --head --port=6379 --include-dashboard=false
    echo "on the others: $0 worker $(hostname):6379"
    ;;
worker)
    start --address="${2:?HOST:PORT of the head}"
    ;;
run)
    shift
    exec "${BIN}pnono" run --engine ray --address auto --workers "${WORKERS:-$CPUS}" "$@"
    ;;
stop)
    "${BIN}ray" stop
    ;;
*)
    sed -n '2,8p' "$0" >&2
    exit 2
    ;;
esac
