#!/bin/bash
# Registrations a second through the store (a row, a start token and three topics each; repeats; another topic), beside a
# plain upsert of the row alone by pgbench, both durable, in turn on a throw-away cluster that waits for the disk.
# Then what an installation takes of the disk, its indexes included. PROGRAM: a benchmark that is built already.
#     COUNT=50000 CALLERS=200 CLIENTS=16 SECONDS_EACH=10 ROUNDS=3
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}

if [ -z "${PROGRAM:-}" ]; then
    export GRANDSTAND_BENCHMARKS=1
    swift build --scratch-path "$scratch" -c release --product RegistrationBenchmark
    PROGRAM="$(swift build --scratch-path "$scratch" -c release --show-bin-path)/RegistrationBenchmark"
fi
ours=$PROGRAM

FLUSH=on
. Benchmarks/throw-away-cluster.sh
"$ours" "$target" prepare
cat >"$work/upsert.sql" <<'SQL'
\set n random(1, 1000000000)
insert into installations (app, installation, secret_hash, sequence, system_version, app_version, locale, time_zone,
    live_activities_enabled, frequent_pushes_enabled, created_at, seen_at)
values (0, md5(:n::text)::uuid, sha256('x'), 1, 18004, '5.2', 'de-AT', 'Europe/Vienna', true, true, now(), now())
on conflict (app, installation) do update set sequence = excluded.sequence, seen_at = excluded.seen_at;
SQL
chmod -R a+rX "$work"
for _ in $(seq "${ROUNDS:-3}"); do
    "$bin/pgbench" -M prepared -n -c "${CLIENTS:-16}" -j 2 -T "${SECONDS_EACH:-10}" -f "$work/upsert.sql" "$target" \
        2>/dev/null | sed -nE 's/^tps = ([0-9]+).*/pgbench upsert = \1/p'
    "$ours" "$target" "${COUNT:-50000}" "${CALLERS:-200}"
done
# Of those that our rounds made alone: with a token and topics each.
"$bin/psql" -qXAt "$target" -c "delete from installations where not exists (
    select from start_tokens where start_tokens.installation = installations.id)" \
    -c "vacuum full installations" -c "vacuum full start_tokens" -c "vacuum full follows" \
    -c "select 'bytes an installation = ' || (pg_total_relation_size('installations')
        + pg_total_relation_size('start_tokens') + pg_total_relation_size('follows')) / count(*) from installations"
