# Sourced by the benchmarks that need PostgreSQL: starts a cluster that ends with the script. Sets `bin`, `work` and
# `target`, a connection string. With FLUSH=on commits wait for the disk, as in production.
bin=$({ ls -d /usr/lib/postgresql/*/bin /opt/homebrew/opt/postgresql*/bin 2>/dev/null || true; } | sort -rV | sed -n 1p)
work=$(mktemp -d)
if [ "$(id -u)" = 0 ]; then
    chown postgres "$work"
    as() { setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"; }
else
    as() { "$@"; }
fi
cleanup() { as "$bin/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$work"; }
trap cleanup EXIT
as "$bin/initdb" -D "$work/data" -U bench --auth=trust --no-sync >/dev/null
as "$bin/pg_ctl" -D "$work/data" -l "$work/data/log" -w -o "-k '$work' -c listen_addresses='' -c fsync=${FLUSH:-off}" start >/dev/null
target="host=$work user=bench dbname=postgres"
