
CREATE TYPE public.activity_state AS ENUM (
    'active',
    'stale',
    'ended',
    'dismissed'
);

CREATE TYPE public.audience_delivery AS ENUM (
    'channel',
    'tokens'
);

CREATE TYPE public.audit_action AS ENUM (
    'app.registered',
    'app.changed',
    'app.deleted',
    'channel.created',
    'channel.refused',
    'channel.unanswered',
    'channel.adopted',
    'channel.imported',
    'channel.retired',
    'channel.deleted',
    'channel.missing',
    'channel.released',
    'event.created',
    'event.changed',
    'event.cancelled',
    'event.reopened',
    'event.expired',
    'start.requested',
    'start.stopped',
    'key.created',
    'key.revoked',
    'key.rotated',
    'quirk.learned',
    'quirk.set',
    'webhook.created',
    'webhook.changed',
    'webhook.deleted',
    'webhook.rotated',
    'webhook.disabled',
    'calendar.created',
    'calendar.changed',
    'calendar.deleted',
    'calendar.synced',
    'broadcast.accepted',
    'broadcast.withdrawn',
    'push.accepted',
    'push.withdrawn',
    'audit.pruned'
);

CREATE TYPE public.broadcast_event AS ENUM (
    'start',
    'update',
    'end'
);

CREATE TYPE public.channel_state AS ENUM (
    'creating',
    'active',
    'retiring',
    'deleting',
    'deleted',
    'missing',
    'failed'
);

CREATE TYPE public.delivery_state AS ENUM (
    'waiting',
    'queued',
    'sending',
    'accepted',
    'superseded',
    'expired',
    'rejected',
    'unknown',
    'cancelled'
);

CREATE TYPE public.environment AS ENUM (
    'development',
    'production'
);

CREATE TYPE public.key_scope AS ENUM (
    'lookup',
    'device',
    'organise',
    'operate',
    'admin'
);

CREATE TYPE public.lane_kind AS ENUM (
    'channel',
    'crowd',
    'infrequent',
    'token'
);

CREATE TYPE public.reconciliation_alarm AS ENUM (
    'capability-off',
    'list-incomplete',
    'ambiguous-creation'
);

CREATE TYPE public.start_state AS ENUM (
    'accepted',
    'rejected',
    'unknown'
);

CREATE TYPE public.storage_policy AS ENUM (
    'noMessageStored',
    'mostRecentMessageStored'
);

CREATE TYPE public.webhook_delivery_state AS ENUM (
    'queued',
    'sending',
    'delivered',
    'failed',
    'cancelled'
);

CREATE TYPE public.webhook_state AS ENUM (
    'enabled',
    'disabled'
);

CREATE TYPE public.webhook_topic AS ENUM (
    'broadcast.settled',
    'channel.missing',
    'channel.replaced',
    'quota.level',
    'reconciliation.found',
    'capability.off',
    'tokens.refused',
    'calendar.shrunk',
    'webhook.test'
);

CREATE FUNCTION public.announce_audience() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if tg_op <> 'INSERT' then perform announce_lookup('event ' || old.event_key); end if;
    if tg_op <> 'DELETE' then perform announce_lookup('event ' || new.event_key); end if;
    return null;
end
$$;

CREATE FUNCTION public.announce_channel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform announce_lookup('event ' || u.event_key)
    from lanes l join audiences u on u.lane = l.id where l.channel = new.id;
    return null;
end
$$;

CREATE FUNCTION public.announce_event() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform announce_lookup('event ' || new.key);
    return null;
end
$$;

CREATE FUNCTION public.announce_lane() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform announce_lookup('event ' || u.event_key) from audiences u where u.lane = new.id;
    return null;
end
$$;

CREATE FUNCTION public.announce_lookup(what text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into lookup_journal (subject) values (what) on conflict do nothing;
    perform pg_notify('grandstand_lookup', pg_current_xact_id()::text || ' ' || what);
    if current_setting('grandstand.notices', true) = 'on' then
        raise notice '%', what using errcode = 'GS001';
    end if;
end
$$;

CREATE FUNCTION public.announce_subject() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform announce_lookup(tg_argv[0]);
    return null;
end
$$;

CREATE FUNCTION public.forget_deliveries() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if current_setting('grandstand.forgets_history', true) = 'on' then
        return null;
    end if;
    if exists (select from gone where kind <> 'token') then
        delete from deliveries where lane = any(array(select id from gone where kind <> 'token'));
    end if;
    return null;
end
$$;

CREATE FUNCTION public.forget_starts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    delete from starts where run in (select id from gone);
    delete from start_queue where run in (select id from gone);
    return null;
end
$$;

CREATE FUNCTION public.leave_reaches() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    update api_keys set apps = array_remove(apps, old.bundle_id), bundle_id = (array_remove(apps, old.bundle_id))[1]
    where old.bundle_id = any(reach_of(bundle_id, apps)) and cardinality(reach_of(bundle_id, apps)) > 1;
    update webhooks set apps = array_remove(apps, old.bundle_id), bundle_id = (array_remove(apps, old.bundle_id))[1]
    where old.bundle_id = any(reach_of(bundle_id, apps)) and cardinality(reach_of(bundle_id, apps)) > 1;
    return old;
end
$$;

CREATE FUNCTION public.new_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    new.version = nextval('resource_versions');
    return new;
end
$$;

CREATE FUNCTION public.note_for_webhooks(topic public.webhook_topic, at timestamp with time zone, apps text[], channel json DEFAULT NULL::json, replaced json DEFAULT NULL::json, detail json DEFAULT NULL::json) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    wanted uuid[];
begin
    select array_agg(w.id) into wanted from webhooks w
    where w.state = 'enabled' and note_for_webhooks.topic = any(w.topics)
        and (w.bundle_id is null or note_for_webhooks.apps <@ reach_of(w.bundle_id, w.apps));
    if wanted is null then
        return;
    end if;
    insert into webhook_notes (topic, at, webhooks, channel, replaced, detail)
    values (note_for_webhooks.topic, note_for_webhooks.at, wanted, note_for_webhooks.channel,
        note_for_webhooks.replaced, note_for_webhooks.detail);
    perform pg_notify('grandstand_webhooks', '');
end
$$;

CREATE FUNCTION public.note_for_webhooks(topic public.webhook_topic, at timestamp with time zone, app text, channel json DEFAULT NULL::json, replaced json DEFAULT NULL::json, detail json DEFAULT NULL::json) RETURNS void
    LANGUAGE sql
    AS $$
    select note_for_webhooks(topic, at, array[app], channel, replaced, detail)
$$;

CREATE FUNCTION public.prune_audit_log(before timestamp with time zone, most integer, at timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    pruned record;
begin
    if before > now() - interval '30 days' then
        raise exception 'the audit log keeps 30 days at least' using errcode = 'restrict_violation';
    end if;
    perform set_config('grandstand.prunes_audit_log', pg_current_xact_id()::text, true);
    with gone as (
        delete from audit_log where id = any(array(
            select a.id from audit_log a where a.at < prune_audit_log.before order by a.at limit most))
        returning audit_log.at
    )
    select count(*) as entries, min(gone.at) as oldest, max(gone.at) as newest into pruned from gone;
    perform set_config('grandstand.prunes_audit_log', '', true);
    if pruned.entries > 0 then
        insert into audit_log (at, actor, action, reason)
        values (prune_audit_log.at, 'grandstand', 'audit.pruned', format('%s entries from %s to %s', pruned.entries,
            to_char(pruned.oldest at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            to_char(pruned.newest at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')));
    end if;
    return pruned.entries;
end
$$;

CREATE FUNCTION public.reach_of(bundle_id text, apps text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    AS $$
    select case when bundle_id is null then null when apps[1] = bundle_id then apps else array[bundle_id] end
$$;

CREATE FUNCTION public.refuse_change_of_audit_log() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    -- The function above, in this transaction; whoever sets this by hand means to.
    if tg_op = 'DELETE' and current_setting('grandstand.prunes_audit_log', true) = pg_current_xact_id()::text then
        return null;
    end if;
    raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end
$$;

CREATE FUNCTION public.tell_of_alarm() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform note_for_webhooks('capability.off', new.reconciled_at, new.bundle_id, detail => json_build_object(
        'bundle_id', new.bundle_id, 'environment', new.environment));
    return null;
end
$$;

CREATE FUNCTION public.tell_of_deliveries() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if exists (select from webhooks where state = 'enabled' and 'broadcast.settled' = any(topics)) then
        insert into webhook_settlements (broadcast_id)
        select distinct broadcast_id from changed where settled_at is not null;
        if found then
            perform pg_notify('grandstand_webhooks', '');
        end if;
    end if;
    if exists (select from live_views) then
        perform pg_notify('grandstand_live', k.event_key) from (
            select distinct b.event_key from changed c join broadcasts b on b.id = c.broadcast_id
            where b.event_key in (select v.event_key from live_views v)) k;
    end if;
    return null;
end
$$;

CREATE FUNCTION public.tell_of_event() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if exists (select from live_views where event_key = new.key) then
        perform pg_notify('grandstand_live', new.key);
    end if;
    return null;
end
$$;

CREATE FUNCTION public.tell_of_missing_channel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform note_for_webhooks('channel.missing', new.changed_at, new.bundle_id, channel => to_json(new));
    return null;
end
$$;

CREATE FUNCTION public.tell_of_quirk() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if tg_op = 'INSERT' or old.value is distinct from new.value then
        perform note_for_webhooks('capability.off', new.learned_at, new.bundle_id, detail => to_json(new));
    end if;
    return null;
end
$$;

CREATE FUNCTION public.tell_of_reconciliation() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform note_for_webhooks('reconciliation.found', new.finished_at, new.bundle_id, detail => json_build_object(
        'report', new.report, 'standing', (select alarm from app_environments
            where bundle_id = new.bundle_id and environment = new.environment)));
    return null;
end
$$;

CREATE FUNCTION public.tell_of_replaced_channel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
    earlier channels;
begin
    -- `offset 0`: the event's channels, by its key, whatever the planner thinks of an index by app.
    select * into earlier from (select * from channels where event_key = new.event_key offset 0) c
    where c.bundle_id = new.bundle_id and c.environment = new.environment and c.variant = new.variant
        and c.id <> new.id and c.channel_id is not null
    order by c.created_at desc limit 1;
    if found then
        perform note_for_webhooks(
            'channel.replaced', new.changed_at, new.bundle_id, channel => to_json(new), replaced => to_json(earlier));
    end if;
    return null;
end
$$;

CREATE FUNCTION public.tell_of_scheduled() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if not new.scheduled
        and exists (select from webhooks where state = 'enabled' and 'broadcast.settled' = any(topics)) then
        insert into webhook_settlements (broadcast_id) values (new.id);
        perform pg_notify('grandstand_webhooks', '');
    end if;
    if exists (select from live_views where event_key = new.event_key) then
        perform pg_notify('grandstand_live', new.event_key);
    end if;
    return null;
end
$$;

CREATE FUNCTION public.tell_of_withdrawn() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    update webhook_messages set broadcast_id = null
    where broadcast_id = new.id or broadcast_id in (
        select p.broadcast_id from deliveries d join deliveries p on p.lane = d.lane and p.settled_at is null
        where d.broadcast_id = new.id);
    return null;
end
$$;

CREATE FUNCTION public.tell_webhooks(topic public.webhook_topic, at timestamp with time zone, app text, data json, broadcast uuid DEFAULT NULL::uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    told uuid;
begin
    if not exists (
        select from webhooks w where w.state = 'enabled' and tell_webhooks.topic = any(w.topics)
            and (w.bundle_id is null or w.bundle_id = app)) then
        return;
    end if;
    insert into webhook_messages as m (topic, broadcast_id, body, created_at)
    values (tell_webhooks.topic, broadcast,
        json_build_object('type', tell_webhooks.topic, 'timestamp', webhook_time(at), 'data', data)::text, at)
    on conflict (broadcast_id) do nothing returning m.id into told;
    if told is null then
        return;
    end if;
    insert into webhook_deliveries (message, webhook, next_attempt_at, created_at)
    select told, w.id, at, at from webhooks w
    where w.state = 'enabled' and tell_webhooks.topic = any(w.topics) and (w.bundle_id is null or w.bundle_id = app);
    perform pg_notify('grandstand_webhooks', '');
end
$$;

CREATE FUNCTION public.webhook_time(at timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    select to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

CREATE TABLE public.activities (
    id bigint NOT NULL,
    installation bigint NOT NULL,
    activity text NOT NULL,
    app integer NOT NULL,
    event_key text NOT NULL,
    attributes_type text NOT NULL,
    state public.activity_state NOT NULL,
    update_token bytea,
    registered_at timestamp with time zone,
    suspect_since timestamp with time zone,
    reason text,
    channel_id text,
    in_crowd boolean GENERATED ALWAYS AS (((update_token IS NOT NULL) AND (suspect_since IS NULL) AND (channel_id IS NULL) AND (state = ANY (ARRAY['active'::public.activity_state, 'stale'::public.activity_state])))) STORED NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    is_sampled boolean NOT NULL,
    frequent boolean DEFAULT true NOT NULL,
    first_reported_at timestamp with time zone,
    CONSTRAINT activities_update_token_check CHECK (((length(update_token) >= 1) AND (length(update_token) <= 512)))
);

ALTER TABLE public.activities ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.activities_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.api_key_uses (
    key uuid NOT NULL,
    used_at timestamp with time zone NOT NULL
);

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    prefix text NOT NULL,
    scopes public.key_scope[] NOT NULL,
    bundle_id text,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    expires_at timestamp with time zone,
    replaced_by uuid,
    apps text[],
    CONSTRAINT api_keys_scopes_check CHECK ((cardinality(scopes) > 0)),
    CONSTRAINT api_keys_secret_hash_check CHECK ((length(secret_hash) = 32))
);

CREATE TABLE public.app_environments (
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    team_id text,
    key_id text,
    apple_count integer,
    apple_listed_at timestamp with time zone,
    alarm public.reconciliation_alarm,
    reconciled_at timestamp with time zone DEFAULT now() NOT NULL,
    reconcile_at timestamp with time zone,
    reconcile_failures integer DEFAULT 0 NOT NULL,
    reconciling_by uuid,
    reconciling_until timestamp with time zone,
    apple_asked_at timestamp with time zone,
    id integer NOT NULL,
    CONSTRAINT app_environments_key_id_check CHECK ((key_id ~ '^[A-Za-z0-9]{10}$'::text)),
    CONSTRAINT app_environments_team_id_check CHECK ((team_id ~ '^[A-Za-z0-9]{10}$'::text))
);

ALTER TABLE public.app_environments ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.app_environments_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE public.resource_versions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.apps (
    bundle_id text NOT NULL,
    topic text GENERATED ALWAYS AS (lower(bundle_id)) STORED NOT NULL,
    name text NOT NULL,
    team_id text NOT NULL,
    key_id text NOT NULL,
    channel_limit integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT nextval('public.resource_versions'::regclass) NOT NULL,
    preview_compact text,
    preview_expanded text,
    CONSTRAINT apps_bundle_id_check CHECK ((bundle_id ~ '^[A-Za-z0-9.-]{1,155}$'::text)),
    CONSTRAINT apps_channel_limit_check CHECK (((channel_limit >= 1) AND (channel_limit <= 10000))),
    CONSTRAINT apps_key_id_check CHECK ((key_id ~ '^[A-Za-z0-9]{10}$'::text)),
    CONSTRAINT apps_preview_compact_check CHECK (((octet_length(preview_compact) >= 1) AND (octet_length(preview_compact) <= 2000))),
    CONSTRAINT apps_preview_expanded_check CHECK (((octet_length(preview_expanded) >= 1) AND (octet_length(preview_expanded) <= 2000))),
    CONSTRAINT apps_team_id_check CHECK ((team_id ~ '^[A-Za-z0-9]{10}$'::text))
);

CREATE TABLE public.audiences (
    event_key text NOT NULL,
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    storage_policy public.storage_policy NOT NULL,
    "position" integer NOT NULL,
    lane bigint NOT NULL,
    delivery public.audience_delivery DEFAULT 'channel'::public.audience_delivery NOT NULL,
    variant text DEFAULT ''::text NOT NULL,
    priority smallint,
    CONSTRAINT audiences_check CHECK (((variant = ''::text) OR (delivery = 'channel'::public.audience_delivery))),
    CONSTRAINT audiences_priority_check CHECK ((priority = ANY (ARRAY[1, 5, 10]))),
    CONSTRAINT audiences_variant_check CHECK ((variant ~ '^[A-Za-z0-9._:-]{0,32}$'::text))
);

CREATE TABLE public.crowds (
    lane bigint NOT NULL,
    event_key text NOT NULL,
    app integer NOT NULL,
    kind public.lane_kind NOT NULL,
    CONSTRAINT crowds_kind_check CHECK ((kind = ANY (ARRAY['crowd'::public.lane_kind, 'infrequent'::public.lane_kind])))
);

CREATE VIEW public.audience_lanes AS
 SELECT audiences.event_key,
    audiences.bundle_id,
    audiences.environment,
    audiences."position",
    audiences.lane AS beside,
    audiences.lane,
    (audiences.delivery = 'channel'::public.audience_delivery) AS is_lead
   FROM public.audiences
UNION ALL
 SELECT c.event_key,
    u.bundle_id,
    u.environment,
    u."position",
    u.lane AS beside,
    c.lane,
    ((u.delivery = 'tokens'::public.audience_delivery) AND (c.kind = 'crowd'::public.lane_kind)) AS is_lead
   FROM ((public.crowds c
     CROSS JOIN LATERAL ( SELECT app_environments.bundle_id,
            app_environments.environment
           FROM public.app_environments
          WHERE (app_environments.id = c.app)
         OFFSET 0) ae)
     CROSS JOIN LATERAL ( SELECT audiences.event_key,
            audiences.bundle_id,
            audiences.environment,
            audiences.storage_policy,
            audiences."position",
            audiences.lane,
            audiences.delivery,
            audiences.variant,
            audiences.priority
           FROM public.audiences
          WHERE ((audiences.event_key = c.event_key) AND (audiences.bundle_id = ae.bundle_id) AND (audiences.environment = ae.environment))
          ORDER BY (audiences.variant <> ''::text), audiences."position"
         LIMIT 1) u);

CREATE TABLE public.audit_log (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    api_key uuid,
    action public.audit_action NOT NULL,
    bundle_id text,
    environment public.environment,
    channel uuid,
    channel_id text,
    event_key text,
    reason text,
    signing_key text,
    apns_status integer,
    apns_reason text,
    apns_request_id text,
    broadcast uuid
);

ALTER TABLE public.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.broadcasts (
    id uuid NOT NULL,
    event_key text,
    event public.broadcast_event NOT NULL,
    content_state json,
    alert json,
    stale_date bigint,
    dismissal_date bigint,
    relevance_score json,
    priority smallint,
    expires_in integer,
    apns_expiration bigint,
    audiences json,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    send_at timestamp with time zone,
    scheduled boolean DEFAULT false NOT NULL,
    channel uuid,
    accepted_by text,
    cancelled boolean DEFAULT false NOT NULL,
    lane bigint,
    start json,
    shown boolean DEFAULT false NOT NULL,
    by_variant json,
    withdrawn_by text,
    reach text[],
    CONSTRAINT broadcasts_check CHECK (((event_key IS NULL) OR (channel IS NULL))),
    CONSTRAINT broadcasts_check1 CHECK (((lane IS NULL) OR ((event_key IS NULL) AND (channel IS NULL)))),
    CONSTRAINT broadcasts_priority_check CHECK ((priority = ANY (ARRAY[1, 5, 10])))
);

CREATE TABLE public.calendar_apps (
    calendar text NOT NULL,
    bundle_id text NOT NULL,
    environment public.environment NOT NULL
);

CREATE TABLE public.calendar_entries (
    calendar text NOT NULL,
    uid text NOT NULL,
    event_key text NOT NULL,
    document json NOT NULL,
    is_missing boolean NOT NULL,
    is_cancelled boolean NOT NULL
);

CREATE TABLE public.calendars (
    name text NOT NULL,
    declaration json NOT NULL,
    refresh_every integer,
    reach text[],
    last_sync json,
    shrunk_since timestamp with time zone,
    shrunk_vanished integer,
    shrunk_future integer,
    next_refresh_at timestamp with time zone,
    failure text,
    version bigint DEFAULT nextval('public.resource_versions'::regclass) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT calendars_check CHECK (((shrunk_since IS NULL) = (shrunk_vanished IS NULL))),
    CONSTRAINT calendars_check1 CHECK (((shrunk_since IS NULL) = (shrunk_future IS NULL))),
    CONSTRAINT calendars_check2 CHECK (((refresh_every IS NULL) = (next_refresh_at IS NULL))),
    CONSTRAINT calendars_name_check CHECK ((name ~ '^[A-Za-z0-9._:-]{1,64}$'::text)),
    CONSTRAINT calendars_refresh_every_check CHECK ((refresh_every > 0))
);

CREATE TABLE public.channels (
    id uuid NOT NULL,
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    channel_id text,
    storage_policy public.storage_policy NOT NULL,
    state public.channel_state NOT NULL,
    event_key text,
    label text,
    reason text,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    leased_until timestamp with time zone,
    retire_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    called_at timestamp with time zone,
    needed_until timestamp with time zone,
    doubted_at timestamp with time zone,
    examine_at timestamp with time zone,
    confirmed_at timestamp with time zone,
    deletion_confirmed boolean DEFAULT false NOT NULL,
    variant text DEFAULT ''::text NOT NULL,
    CONSTRAINT channels_channel_id_check CHECK (((length(channel_id) >= 1) AND (length(channel_id) <= 1024))),
    CONSTRAINT channels_check CHECK (((state = ANY (ARRAY['creating'::public.channel_state, 'failed'::public.channel_state, 'deleted'::public.channel_state])) OR (channel_id IS NOT NULL))),
    CONSTRAINT channels_check1 CHECK (((state <> 'retiring'::public.channel_state) OR (retire_at IS NOT NULL))),
    CONSTRAINT channels_check2 CHECK (((called_at IS NULL) OR (state = 'creating'::public.channel_state))),
    CONSTRAINT channels_check3 CHECK (((doubted_at IS NULL) = (examine_at IS NULL)))
);

CREATE TABLE public.console_sessions (
    id bytea NOT NULL,
    key uuid NOT NULL,
    started_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone NOT NULL,
    CONSTRAINT console_sessions_id_check CHECK ((octet_length(id) = 32))
);

CREATE TABLE public.crowd_joins (
    activity bigint NOT NULL,
    lane bigint NOT NULL,
    due_at timestamp with time zone NOT NULL
);

CREATE TABLE public.deliveries (
    id bigint NOT NULL,
    broadcast_id uuid NOT NULL,
    lane bigint NOT NULL,
    state public.delivery_state NOT NULL,
    is_end boolean NOT NULL,
    alerting boolean NOT NULL,
    priority smallint NOT NULL,
    apns_expiration bigint NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    apns_timestamp bigint,
    apns_request_id uuid NOT NULL,
    apns_unique_id text,
    channel_id text,
    reason text,
    settled_at timestamp with time zone,
    content_before uuid,
    rings_until timestamp with time zone,
    content_of uuid,
    content_sent boolean DEFAULT false NOT NULL,
    content_bytes integer,
    alert_bytes integer,
    plain_priority smallint,
    fan_out json,
    is_start boolean DEFAULT false NOT NULL,
    refusals integer DEFAULT 0 NOT NULL,
    CONSTRAINT deliveries_check CHECK (((state = ANY (ARRAY['waiting'::public.delivery_state, 'queued'::public.delivery_state, 'sending'::public.delivery_state])) = (settled_at IS NULL))),
    CONSTRAINT deliveries_plain_priority_check CHECK ((plain_priority = ANY (ARRAY[1, 5, 10]))),
    CONSTRAINT deliveries_priority_check CHECK ((priority = ANY (ARRAY[1, 5, 10])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE public.deliveries ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW public.event_lanes AS
 SELECT audiences.event_key,
    audiences.bundle_id,
    audiences.environment,
    audiences.lane,
    audiences."position"
   FROM public.audiences
  WHERE (audiences.delivery = 'channel'::public.audience_delivery)
UNION ALL
 SELECT c.event_key,
    ae.bundle_id,
    ae.environment,
    c.lane,
    1000000 AS "position"
   FROM (public.crowds c
     JOIN public.app_environments ae ON ((ae.id = c.app)));

CREATE TABLE public.event_starts (
    event_key text NOT NULL,
    at timestamp with time zone,
    until timestamp with time zone,
    attributes_type text NOT NULL,
    attributes json NOT NULL,
    content_state json,
    alert json NOT NULL,
    alerts_by_locale json,
    stale_date bigint,
    audiences json,
    asked_at timestamp with time zone,
    stopped_at timestamp with time zone,
    opens_at timestamp with time zone,
    declared_by text,
    asked_by text
);

CREATE TABLE public.events (
    key text NOT NULL,
    name text NOT NULL,
    kind text,
    starts_at timestamp with time zone,
    ends_at timestamp with time zone,
    channels_open_at timestamp with time zone,
    metadata json,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    first_update_at timestamp with time zone,
    ended_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    version bigint DEFAULT nextval('public.resource_versions'::regclass) NOT NULL,
    expired_at timestamp with time zone,
    topics text[] DEFAULT '{}'::text[] NOT NULL,
    channels_open_before integer,
    defaults json,
    reopened_at timestamp with time zone,
    CONSTRAINT events_channels_open_before_check CHECK ((channels_open_before >= 0)),
    CONSTRAINT events_key_check CHECK ((key ~ '^[A-Za-z0-9._:-]{1,128}$'::text))
);

CREATE TABLE public.follows (
    installation bigint NOT NULL,
    topic text NOT NULL,
    app integer NOT NULL
);

CREATE TABLE public.idempotency_keys (
    id bytea NOT NULL,
    fingerprint bytea NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    leased_until timestamp with time zone,
    resource uuid,
    answer bytea,
    CONSTRAINT idempotency_keys_fingerprint_check CHECK ((length(fingerprint) = 32)),
    CONSTRAINT idempotency_keys_id_check CHECK ((length(id) = 32))
);

CREATE TABLE public.installations (
    id bigint NOT NULL,
    app integer NOT NULL,
    installation uuid NOT NULL,
    secret_hash bytea NOT NULL,
    sequence bigint,
    system_version integer NOT NULL,
    app_version text,
    locale text,
    time_zone text,
    live_activities_enabled boolean NOT NULL,
    frequent_pushes_enabled boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    CONSTRAINT installations_secret_hash_check CHECK ((length(secret_hash) = 32))
);

ALTER TABLE public.installations ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.installations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.lanes (
    id bigint NOT NULL,
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    storage_policy public.storage_policy NOT NULL,
    channel uuid,
    due_at timestamp with time zone,
    leased_by uuid,
    leased_until timestamp with time zone,
    last_timestamp bigint DEFAULT 0 NOT NULL,
    ready_at timestamp with time zone,
    fenced_at timestamp with time zone,
    closed_at timestamp with time zone,
    newest_broadcast uuid,
    is_urgent boolean DEFAULT false NOT NULL,
    stored_until timestamp with time zone,
    kind public.lane_kind DEFAULT 'channel'::public.lane_kind NOT NULL,
    shard_due_at timestamp with time zone,
    token bytea,
    variant text DEFAULT ''::text NOT NULL,
    priority smallint,
    CONSTRAINT lanes_check CHECK (((kind = ANY (ARRAY['crowd'::public.lane_kind, 'infrequent'::public.lane_kind])) OR (shard_due_at IS NULL))),
    CONSTRAINT lanes_check1 CHECK (((kind = ANY (ARRAY['channel'::public.lane_kind, 'token'::public.lane_kind])) OR (due_at IS NULL))),
    CONSTRAINT lanes_check2 CHECK (((kind = 'token'::public.lane_kind) = (token IS NOT NULL))),
    CONSTRAINT lanes_priority_check CHECK ((priority = ANY (ARRAY[1, 5, 10]))),
    CONSTRAINT lanes_token_check CHECK (((length(token) >= 1) AND (length(token) <= 512)))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE public.lanes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.lanes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.leases (
    name text NOT NULL,
    holder uuid NOT NULL,
    leased_until timestamp with time zone NOT NULL
);

CREATE TABLE public.live_views (
    event_key text NOT NULL,
    replica uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.lookup_journal (
    version xid8 DEFAULT pg_current_xact_id() NOT NULL,
    subject text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.provider_tokens (
    team_id text NOT NULL,
    key_id text NOT NULL,
    fingerprint bytea NOT NULL,
    issued_at bigint NOT NULL,
    token text NOT NULL,
    CONSTRAINT provider_tokens_fingerprint_check CHECK ((length(fingerprint) = 32))
);

CREATE TABLE public.quirks (
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    name text NOT NULL,
    value text,
    learned_at timestamp with time zone,
    evidence text,
    believed_until timestamp with time zone,
    examining_until timestamp with time zone,
    CONSTRAINT quirks_check CHECK ((((value IS NULL) = (learned_at IS NULL)) AND ((value IS NULL) = (evidence IS NULL))))
);

CREATE TABLE public.quota_levels (
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    level text NOT NULL,
    CONSTRAINT quota_levels_level_check CHECK ((level = ANY (ARRAY['ok'::text, 'warning'::text, 'critical'::text])))
);

CREATE TABLE public.quota_sample_times (
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.quota_samples (
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    step integer NOT NULL,
    at timestamp with time zone NOT NULL,
    used integer NOT NULL,
    reserved integer NOT NULL,
    peak integer NOT NULL,
    channel_limit integer NOT NULL,
    created integer NOT NULL,
    deleted integer NOT NULL,
    CONSTRAINT quota_samples_step_check CHECK ((step = ANY (ARRAY[300, 3600])))
);

CREATE TABLE public.receipts (
    event_key text NOT NULL,
    app integer NOT NULL,
    installation bigint NOT NULL,
    apns_timestamp bigint NOT NULL,
    shown_at timestamp with time zone NOT NULL,
    clock_ahead double precision,
    received_at timestamp with time zone NOT NULL
);

CREATE TABLE public.reconciliations (
    id uuid NOT NULL,
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone NOT NULL,
    report json NOT NULL
);

CREATE TABLE public.schema_compatibility (
    is_only boolean DEFAULT true NOT NULL,
    "least" integer NOT NULL,
    CONSTRAINT schema_compatibility_is_only_check CHECK (is_only)
);

CREATE TABLE public.start_queue (
    run bigint NOT NULL,
    installation bigint NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone NOT NULL
);

CREATE TABLE public.start_runs (
    id bigint NOT NULL,
    event_key text NOT NULL,
    app integer NOT NULL,
    topics text[] NOT NULL,
    attributes_type text NOT NULL,
    due_at timestamp with time zone,
    leased_by uuid,
    leased_until timestamp with time zone,
    opened_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    closed_at timestamp with time zone,
    cursor bigint DEFAULT 0 NOT NULL,
    is_swept boolean DEFAULT false NOT NULL,
    noted bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    followers integer,
    too_old integer,
    disabled integer,
    without_token integer,
    rate_from timestamp with time zone,
    rate_until timestamp with time zone,
    rate_answered integer DEFAULT 0 NOT NULL
);

ALTER TABLE public.start_runs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.start_runs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.start_tokens (
    installation bigint NOT NULL,
    attributes_type text NOT NULL,
    app integer NOT NULL,
    token bytea NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    suspect_since timestamp with time zone,
    reason text,
    CONSTRAINT start_tokens_token_check CHECK (((length(token) >= 1) AND (length(token) <= 512)))
);

CREATE TABLE public.starts (
    run bigint NOT NULL,
    installation bigint NOT NULL,
    state public.start_state NOT NULL,
    reason text,
    at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone
);

CREATE TABLE public.token_alarms (
    app integer NOT NULL,
    since timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    judged_minute timestamp with time zone NOT NULL,
    judged_accepted integer NOT NULL,
    judged_suspect integer NOT NULL
);

CREATE TABLE public.token_answers (
    app integer NOT NULL,
    minute timestamp with time zone NOT NULL,
    accepted integer DEFAULT 0 NOT NULL,
    suspect integer DEFAULT 0 NOT NULL,
    reason text
);

CREATE TABLE public.unmanaged_channels (
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    channel_id text NOT NULL,
    storage_policy public.storage_policy,
    first_seen_at timestamp with time zone NOT NULL,
    lacked_at timestamp with time zone,
    contested boolean DEFAULT false NOT NULL,
    CONSTRAINT unmanaged_channels_channel_id_check CHECK (((length(channel_id) >= 1) AND (length(channel_id) <= 1024)))
);

CREATE TABLE public.webhook_attempts (
    delivery uuid NOT NULL,
    number integer NOT NULL,
    at timestamp with time zone NOT NULL,
    milliseconds integer NOT NULL,
    status integer,
    reason text
);

CREATE TABLE public.webhook_deliveries (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    message uuid NOT NULL,
    webhook uuid NOT NULL,
    state public.webhook_delivery_state DEFAULT 'queued'::public.webhook_delivery_state NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    leased_by uuid,
    status integer,
    reason text,
    created_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone,
    CONSTRAINT webhook_deliveries_check CHECK (((state = ANY (ARRAY['queued'::public.webhook_delivery_state, 'sending'::public.webhook_delivery_state])) = (settled_at IS NULL))),
    CONSTRAINT webhook_deliveries_check1 CHECK (((settled_at IS NULL) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_check2 CHECK (((state = 'sending'::public.webhook_delivery_state) = (leased_by IS NOT NULL)))
);

CREATE TABLE public.webhook_messages (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    topic public.webhook_topic NOT NULL,
    broadcast_id uuid,
    body text NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.webhook_notes (
    id bigint NOT NULL,
    topic public.webhook_topic NOT NULL,
    at timestamp with time zone NOT NULL,
    webhooks uuid[] NOT NULL,
    channel json,
    replaced json,
    detail json,
    CONSTRAINT webhook_notes_check CHECK (((channel IS NULL) <> (detail IS NULL))),
    CONSTRAINT webhook_notes_check1 CHECK (((replaced IS NULL) OR (channel IS NOT NULL)))
);

ALTER TABLE public.webhook_notes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_notes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhook_settlements (
    id bigint NOT NULL,
    broadcast_id uuid NOT NULL
);

ALTER TABLE public.webhook_settlements ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_settlements_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhooks (
    id uuid NOT NULL,
    url text NOT NULL,
    description text,
    topics public.webhook_topic[] NOT NULL,
    bundle_id text,
    state public.webhook_state NOT NULL,
    reason text,
    secret text NOT NULL,
    previous_secret text,
    previous_secret_until timestamp with time zone,
    failing_since timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT nextval('public.resource_versions'::regclass) NOT NULL,
    apps text[],
    CONSTRAINT webhooks_check CHECK (((previous_secret IS NULL) = (previous_secret_until IS NULL))),
    CONSTRAINT webhooks_check1 CHECK (((reason IS NULL) OR (state = 'disabled'::public.webhook_state))),
    CONSTRAINT webhooks_secret_check CHECK ((secret ~~ 'whsec\_%'::text)),
    CONSTRAINT webhooks_topics_check CHECK ((cardinality(topics) > 0)),
    CONSTRAINT webhooks_url_check CHECK (((length(url) >= 8) AND (length(url) <= 2000)))
);

ALTER TABLE ONLY public.activities
    ADD CONSTRAINT activities_installation_activity_key UNIQUE (installation, activity);

ALTER TABLE ONLY public.activities
    ADD CONSTRAINT activities_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_key_uses
    ADD CONSTRAINT api_key_uses_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_secret_hash_key UNIQUE (secret_hash);

ALTER TABLE ONLY public.app_environments
    ADD CONSTRAINT app_environments_id_key UNIQUE (id);

ALTER TABLE ONLY public.app_environments
    ADD CONSTRAINT app_environments_pkey PRIMARY KEY (bundle_id, environment);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (bundle_id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_topic_key UNIQUE (topic);

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_lane_key UNIQUE (lane);

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_pkey PRIMARY KEY (event_key, bundle_id, environment, variant);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.broadcasts
    ADD CONSTRAINT broadcasts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.calendar_apps
    ADD CONSTRAINT calendar_apps_pkey PRIMARY KEY (calendar, bundle_id, environment);

ALTER TABLE ONLY public.calendar_entries
    ADD CONSTRAINT calendar_entries_event_key_key UNIQUE (event_key);

ALTER TABLE ONLY public.calendar_entries
    ADD CONSTRAINT calendar_entries_pkey PRIMARY KEY (calendar, uid);

ALTER TABLE ONLY public.calendars
    ADD CONSTRAINT calendars_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.channels
    ADD CONSTRAINT channels_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.console_sessions
    ADD CONSTRAINT console_sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.crowd_joins
    ADD CONSTRAINT crowd_joins_pkey PRIMARY KEY (activity);

ALTER TABLE ONLY public.crowds
    ADD CONSTRAINT crowds_event_key_app_kind_key UNIQUE (event_key, app, kind);

ALTER TABLE ONLY public.crowds
    ADD CONSTRAINT crowds_pkey PRIMARY KEY (lane);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.event_starts
    ADD CONSTRAINT event_starts_pkey PRIMARY KEY (event_key);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.follows
    ADD CONSTRAINT follows_pkey PRIMARY KEY (installation, topic);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.installations
    ADD CONSTRAINT installations_app_installation_key UNIQUE (app, installation);

ALTER TABLE ONLY public.installations
    ADD CONSTRAINT installations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.live_views
    ADD CONSTRAINT live_views_pkey PRIMARY KEY (event_key, replica);

ALTER TABLE ONLY public.lookup_journal
    ADD CONSTRAINT lookup_journal_pkey PRIMARY KEY (version, subject);

ALTER TABLE ONLY public.provider_tokens
    ADD CONSTRAINT provider_tokens_pkey PRIMARY KEY (team_id, key_id, fingerprint);

ALTER TABLE ONLY public.quirks
    ADD CONSTRAINT quirks_pkey PRIMARY KEY (bundle_id, environment, name);

ALTER TABLE ONLY public.quota_levels
    ADD CONSTRAINT quota_levels_pkey PRIMARY KEY (bundle_id, environment);

ALTER TABLE ONLY public.quota_sample_times
    ADD CONSTRAINT quota_sample_times_pkey PRIMARY KEY (at);

ALTER TABLE ONLY public.quota_samples
    ADD CONSTRAINT quota_samples_pkey PRIMARY KEY (bundle_id, environment, step, at);

ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (event_key, app, installation, apns_timestamp);

ALTER TABLE ONLY public.reconciliations
    ADD CONSTRAINT reconciliations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.schema_compatibility
    ADD CONSTRAINT schema_compatibility_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY public.start_queue
    ADD CONSTRAINT start_queue_pkey PRIMARY KEY (installation, run);

ALTER TABLE ONLY public.start_runs
    ADD CONSTRAINT start_runs_event_key_app_key UNIQUE (event_key, app);

ALTER TABLE ONLY public.start_runs
    ADD CONSTRAINT start_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.start_tokens
    ADD CONSTRAINT start_tokens_pkey PRIMARY KEY (installation, attributes_type);

ALTER TABLE ONLY public.starts
    ADD CONSTRAINT starts_pkey PRIMARY KEY (run, installation);

ALTER TABLE ONLY public.token_alarms
    ADD CONSTRAINT token_alarms_pkey PRIMARY KEY (app);

ALTER TABLE ONLY public.token_answers
    ADD CONSTRAINT token_answers_pkey PRIMARY KEY (app, minute);

ALTER TABLE ONLY public.unmanaged_channels
    ADD CONSTRAINT unmanaged_channels_pkey PRIMARY KEY (bundle_id, environment, channel_id);

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery, number);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_message_webhook_key UNIQUE (message, webhook);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_messages
    ADD CONSTRAINT webhook_messages_broadcast_id_key UNIQUE (broadcast_id);

ALTER TABLE ONLY public.webhook_messages
    ADD CONSTRAINT webhook_messages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_notes
    ADD CONSTRAINT webhook_notes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_settlements
    ADD CONSTRAINT webhook_settlements_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);

CREATE INDEX activities_by_report ON public.activities USING btree (reported_at);

CREATE INDEX activities_by_token ON public.activities USING btree (app, update_token) WHERE (update_token IS NOT NULL);

CREATE INDEX activities_in_crowds ON public.activities USING btree (app, event_key, frequent, id) WHERE in_crowd;

CREATE INDEX activities_of_events ON public.activities USING btree (event_key);

CREATE INDEX activities_sampled ON public.activities USING btree (event_key, app, installation) WHERE is_sampled;

CREATE INDEX api_keys_by_time ON public.api_keys USING btree (created_at DESC, id DESC);

CREATE INDEX api_keys_over ON public.api_keys USING btree (LEAST(revoked_at, expires_at)) WHERE ((revoked_at IS NOT NULL) OR (expires_at IS NOT NULL));

CREATE INDEX audiences_by_app ON public.audiences USING btree (bundle_id, environment, event_key);

CREATE INDEX audit_log_by_app ON public.audit_log USING btree (bundle_id, id);

CREATE INDEX audit_log_by_time ON public.audit_log USING btree (at);

CREATE INDEX broadcasts_by_channel ON public.broadcasts USING btree (channel, accepted_at DESC, id DESC) WHERE (channel IS NOT NULL);

CREATE INDEX broadcasts_by_event ON public.broadcasts USING btree (event_key, accepted_at DESC, id DESC);

CREATE INDEX broadcasts_by_lane ON public.broadcasts USING btree (lane) WHERE (lane IS NOT NULL);

CREATE INDEX broadcasts_by_time ON public.broadcasts USING btree (accepted_at) WHERE (NOT scheduled);

CREATE INDEX broadcasts_scheduled ON public.broadcasts USING btree (send_at) WHERE scheduled;

CREATE INDEX broadcasts_scheduled_of_event ON public.broadcasts USING btree (event_key, send_at) WHERE scheduled;

CREATE INDEX calendar_apps_by_app ON public.calendar_apps USING btree (bundle_id, environment);

CREATE INDEX calendars_due ON public.calendars USING btree (next_refresh_at) WHERE (next_refresh_at IS NOT NULL);

CREATE INDEX calendars_shrunk ON public.calendars USING btree (shrunk_since) WHERE (shrunk_since IS NOT NULL);

CREATE UNIQUE INDEX channels_apple_id ON public.channels USING btree (bundle_id, environment, channel_id) WHERE (channel_id IS NOT NULL);

CREATE INDEX channels_by_event ON public.channels USING btree (event_key, bundle_id, environment, variant, storage_policy, created_at) WHERE (event_key IS NOT NULL);

CREATE INDEX channels_deleted ON public.channels USING btree (changed_at) WHERE (state = 'deleted'::public.channel_state);

CREATE INDEX channels_doubted ON public.channels USING btree (bundle_id, environment, examine_at) WHERE (examine_at IS NOT NULL);

CREATE INDEX channels_due ON public.channels USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX channels_listed ON public.channels USING btree (bundle_id, environment, created_at, id);

CREATE INDEX channels_live ON public.channels USING btree (state, bundle_id, environment) WHERE (state <> 'deleted'::public.channel_state);

CREATE UNIQUE INDEX channels_one_per_audience ON public.channels USING btree (event_key, bundle_id, environment, variant) WHERE ((event_key IS NOT NULL) AND (state = ANY (ARRAY['creating'::public.channel_state, 'active'::public.channel_state, 'failed'::public.channel_state, 'missing'::public.channel_state])));

CREATE INDEX channels_unsettled ON public.channels USING btree (next_attempt_at) WHERE (called_at IS NOT NULL);

CREATE INDEX console_sessions_by_key ON public.console_sessions USING btree (key);

CREATE INDEX console_sessions_by_start ON public.console_sessions USING btree (started_at);

CREATE INDEX console_sessions_by_use ON public.console_sessions USING btree (used_at);

CREATE INDEX crowd_joins_due ON public.crowd_joins USING btree (due_at);

CREATE INDEX crowd_joins_of_lanes ON public.crowd_joins USING btree (lane, due_at, activity);

CREATE INDEX deliveries_by_broadcast ON public.deliveries USING btree (broadcast_id);

CREATE INDEX deliveries_pending ON public.deliveries USING btree (lane, id) WHERE (settled_at IS NULL);

CREATE INDEX event_starts_opening ON public.event_starts USING btree (opens_at) WHERE (opens_at IS NOT NULL);

CREATE INDEX events_by_creation ON public.events USING btree (created_at, key);

CREATE INDEX events_open_ended ON public.events USING btree (ends_at) WHERE ((ended_at IS NULL) AND (cancelled_at IS NULL));

CREATE INDEX events_opening ON public.events USING btree (channels_open_at) WHERE ((channels_open_at IS NOT NULL) AND (ended_at IS NULL) AND (cancelled_at IS NULL));

CREATE INDEX events_over ON public.events USING btree (GREATEST(ended_at, cancelled_at, starts_at, ends_at)) WHERE ((ended_at IS NOT NULL) OR (cancelled_at IS NOT NULL));

CREATE INDEX follows_by_topic ON public.follows USING btree (app, topic, installation);

CREATE INDEX idempotency_keys_by_time ON public.idempotency_keys USING btree (accepted_at);

CREATE INDEX installations_by_sight ON public.installations USING btree (seen_at);

CREATE INDEX lanes_by_channel ON public.lanes USING btree (channel) WHERE (channel IS NOT NULL);

CREATE UNIQUE INDEX lanes_by_token ON public.lanes USING btree (bundle_id, environment, token) WHERE (token IS NOT NULL);

CREATE INDEX lanes_due ON public.lanes USING btree (environment, bundle_id, is_urgent, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX lanes_left ON public.lanes USING btree (closed_at) WHERE ((closed_at IS NOT NULL) AND (channel IS NULL) AND (kind = 'channel'::public.lane_kind));

CREATE INDEX lanes_with_shards ON public.lanes USING btree (environment, shard_due_at) WHERE (shard_due_at IS NOT NULL);

CREATE INDEX lookup_journal_by_time ON public.lookup_journal USING btree (at);

CREATE INDEX quota_samples_by_age ON public.quota_samples USING btree (step, at);

CREATE INDEX receipts_by_installation ON public.receipts USING btree (installation, event_key);

CREATE INDEX receipts_by_time ON public.receipts USING btree (received_at);

CREATE INDEX reconciliations_listed ON public.reconciliations USING btree (bundle_id, environment, started_at DESC, id DESC);

CREATE INDEX start_queue_due ON public.start_queue USING btree (run, due_at);

CREATE INDEX start_runs_by_close ON public.start_runs USING btree (app, closed_at);

CREATE INDEX start_runs_due ON public.start_runs USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE UNIQUE INDEX start_tokens_by_token ON public.start_tokens USING btree (app, attributes_type, token);

CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (webhook, next_attempt_at) WHERE (settled_at IS NULL);

CREATE INDEX webhook_deliveries_listed ON public.webhook_deliveries USING btree (webhook, created_at DESC, id DESC);

CREATE INDEX webhook_deliveries_waiting ON public.webhook_deliveries USING btree (created_at) WHERE (settled_at IS NULL);

CREATE INDEX webhook_messages_by_time ON public.webhook_messages USING btree (created_at);

CREATE INDEX webhooks_listed ON public.webhooks USING btree (created_at, id);

CREATE TRIGGER announce_keys AFTER INSERT OR DELETE OR UPDATE OF name, secret_hash, scopes, bundle_id, apps, revoked_at, expires_at ON public.api_keys FOR EACH STATEMENT EXECUTE FUNCTION public.announce_subject('keys');

CREATE TRIGGER announce_lookup AFTER INSERT OR DELETE OR UPDATE OF event_key, bundle_id, environment, variant, "position", storage_policy, lane, delivery ON public.audiences FOR EACH ROW EXECUTE FUNCTION public.announce_audience();

CREATE TRIGGER announce_lookup AFTER UPDATE OF state, channel_id ON public.channels FOR EACH ROW WHEN (((old.state IS DISTINCT FROM new.state) OR (old.channel_id IS DISTINCT FROM new.channel_id))) EXECUTE FUNCTION public.announce_channel();

CREATE TRIGGER announce_lookup AFTER UPDATE ON public.events FOR EACH ROW WHEN (((((((((old.name IS DISTINCT FROM new.name) OR (old.kind IS DISTINCT FROM new.kind)) OR (old.topics IS DISTINCT FROM new.topics)) OR (old.starts_at IS DISTINCT FROM new.starts_at)) OR (old.ends_at IS DISTINCT FROM new.ends_at)) OR (old.first_update_at IS DISTINCT FROM new.first_update_at)) OR (old.ended_at IS DISTINCT FROM new.ended_at)) OR (old.cancelled_at IS DISTINCT FROM new.cancelled_at))) EXECUTE FUNCTION public.announce_event();

CREATE TRIGGER announce_lookup AFTER UPDATE OF channel, fenced_at ON public.lanes FOR EACH ROW WHEN (((old.channel IS DISTINCT FROM new.channel) OR ((old.fenced_at IS NULL) <> (new.fenced_at IS NULL)))) EXECUTE FUNCTION public.announce_lane();

CREATE TRIGGER announce_truncation AFTER TRUNCATE ON public.api_keys FOR EACH STATEMENT EXECUTE FUNCTION public.announce_subject('keys');

CREATE TRIGGER announce_truncation AFTER TRUNCATE ON public.audiences FOR EACH STATEMENT EXECUTE FUNCTION public.announce_subject('events');

CREATE TRIGGER announce_truncation AFTER TRUNCATE ON public.events FOR EACH STATEMENT EXECUTE FUNCTION public.announce_subject('events');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change_of_audit_log();

CREATE TRIGGER forget_deliveries AFTER DELETE ON public.lanes REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.forget_deliveries();

CREATE TRIGGER forget_starts AFTER DELETE ON public.start_runs REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.forget_starts();

CREATE TRIGGER leave_reaches BEFORE DELETE ON public.apps FOR EACH ROW EXECUTE FUNCTION public.leave_reaches();

CREATE TRIGGER new_version BEFORE UPDATE OF name, team_id, key_id, channel_limit ON public.apps FOR EACH ROW EXECUTE FUNCTION public.new_version();

CREATE TRIGGER new_version BEFORE UPDATE OF declaration ON public.calendars FOR EACH ROW EXECUTE FUNCTION public.new_version();

CREATE TRIGGER new_version BEFORE UPDATE OF name, kind, starts_at, ends_at, channels_open_at, metadata ON public.events FOR EACH ROW EXECUTE FUNCTION public.new_version();

CREATE TRIGGER new_version BEFORE UPDATE ON public.webhooks FOR EACH ROW WHEN (((((((old.url IS DISTINCT FROM new.url) OR (old.description IS DISTINCT FROM new.description)) OR (old.topics IS DISTINCT FROM new.topics)) OR (old.bundle_id IS DISTINCT FROM new.bundle_id)) OR (old.apps IS DISTINCT FROM new.apps)) OR (old.state IS DISTINCT FROM new.state))) EXECUTE FUNCTION public.new_version();

CREATE TRIGGER tell_of_alarm AFTER UPDATE ON public.app_environments FOR EACH ROW WHEN (((new.alarm = 'capability-off'::public.reconciliation_alarm) AND (old.alarm IS DISTINCT FROM new.alarm))) EXECUTE FUNCTION public.tell_of_alarm();

CREATE TRIGGER tell_of_changed AFTER UPDATE ON public.deliveries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.tell_of_deliveries();

CREATE TRIGGER tell_of_event AFTER UPDATE ON public.events FOR EACH ROW WHEN (((old.starts_at IS DISTINCT FROM new.starts_at) OR (old.first_update_at IS DISTINCT FROM new.first_update_at) OR (old.ended_at IS DISTINCT FROM new.ended_at) OR (old.cancelled_at IS DISTINCT FROM new.cancelled_at))) EXECUTE FUNCTION public.tell_of_event();

CREATE TRIGGER tell_of_imported AFTER INSERT ON public.channels FOR EACH ROW WHEN (((new.state = 'active'::public.channel_state) AND (new.event_key IS NOT NULL))) EXECUTE FUNCTION public.tell_of_replaced_channel();

CREATE TRIGGER tell_of_missing AFTER UPDATE ON public.channels FOR EACH ROW WHEN (((new.state = 'missing'::public.channel_state) AND (old.state <> 'missing'::public.channel_state))) EXECUTE FUNCTION public.tell_of_missing_channel();

CREATE TRIGGER tell_of_new AFTER INSERT ON public.deliveries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.tell_of_deliveries();

CREATE TRIGGER tell_of_quirk AFTER INSERT OR UPDATE ON public.quirks FOR EACH ROW WHEN (((new.name = 'broadcast-feature'::text) AND (new.value = 'off'::text))) EXECUTE FUNCTION public.tell_of_quirk();

CREATE TRIGGER tell_of_reconciliation AFTER INSERT ON public.reconciliations FOR EACH ROW EXECUTE FUNCTION public.tell_of_reconciliation();

CREATE TRIGGER tell_of_replaced AFTER UPDATE ON public.channels FOR EACH ROW WHEN (((new.state = 'active'::public.channel_state) AND (old.state = 'creating'::public.channel_state) AND (new.event_key IS NOT NULL))) EXECUTE FUNCTION public.tell_of_replaced_channel();

CREATE TRIGGER tell_of_scheduled AFTER INSERT ON public.broadcasts FOR EACH ROW WHEN (new.scheduled) EXECUTE FUNCTION public.tell_of_scheduled();

CREATE TRIGGER tell_of_unscheduled AFTER UPDATE ON public.broadcasts FOR EACH ROW WHEN ((old.scheduled AND (NOT new.scheduled))) EXECUTE FUNCTION public.tell_of_scheduled();

CREATE TRIGGER tell_of_withdrawn AFTER UPDATE OF cancelled ON public.broadcasts FOR EACH ROW WHEN ((new.cancelled AND (NOT old.cancelled))) EXECUTE FUNCTION public.tell_of_withdrawn();

ALTER TABLE ONLY public.activities
    ADD CONSTRAINT activities_installation_fkey FOREIGN KEY (installation) REFERENCES public.installations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_key_uses
    ADD CONSTRAINT api_key_uses_key_fkey FOREIGN KEY (key) REFERENCES public.api_keys(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.apps(bundle_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_replaced_by_fkey FOREIGN KEY (replaced_by) REFERENCES public.api_keys(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.app_environments
    ADD CONSTRAINT app_environments_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.apps(bundle_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.events(key) ON DELETE CASCADE;

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_lane_fkey FOREIGN KEY (lane) REFERENCES public.lanes(id);

ALTER TABLE ONLY public.broadcasts
    ADD CONSTRAINT broadcasts_channel_fkey FOREIGN KEY (channel) REFERENCES public.channels(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.broadcasts
    ADD CONSTRAINT broadcasts_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.events(key) ON DELETE CASCADE;

ALTER TABLE ONLY public.broadcasts
    ADD CONSTRAINT broadcasts_lane_fkey FOREIGN KEY (lane) REFERENCES public.lanes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.calendar_apps
    ADD CONSTRAINT calendar_apps_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.calendar_apps
    ADD CONSTRAINT calendar_apps_calendar_fkey FOREIGN KEY (calendar) REFERENCES public.calendars(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.calendar_entries
    ADD CONSTRAINT calendar_entries_calendar_fkey FOREIGN KEY (calendar) REFERENCES public.calendars(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.channels
    ADD CONSTRAINT channels_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.channels
    ADD CONSTRAINT channels_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.events(key) ON DELETE SET NULL;

ALTER TABLE ONLY public.console_sessions
    ADD CONSTRAINT console_sessions_key_fkey FOREIGN KEY (key) REFERENCES public.api_keys(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.crowd_joins
    ADD CONSTRAINT crowd_joins_activity_fkey FOREIGN KEY (activity) REFERENCES public.activities(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.crowd_joins
    ADD CONSTRAINT crowd_joins_lane_fkey FOREIGN KEY (lane) REFERENCES public.lanes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.crowds
    ADD CONSTRAINT crowds_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.events(key) ON DELETE CASCADE;

ALTER TABLE ONLY public.crowds
    ADD CONSTRAINT crowds_lane_fkey FOREIGN KEY (lane) REFERENCES public.lanes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_broadcast_id_fkey FOREIGN KEY (broadcast_id) REFERENCES public.broadcasts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.event_starts
    ADD CONSTRAINT event_starts_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.events(key) ON DELETE CASCADE;

ALTER TABLE ONLY public.follows
    ADD CONSTRAINT follows_installation_fkey FOREIGN KEY (installation) REFERENCES public.installations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_channel_fkey FOREIGN KEY (channel) REFERENCES public.channels(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.quirks
    ADD CONSTRAINT quirks_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.quota_levels
    ADD CONSTRAINT quota_levels_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.quota_samples
    ADD CONSTRAINT quota_samples_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.events(key) ON DELETE CASCADE;

ALTER TABLE ONLY public.reconciliations
    ADD CONSTRAINT reconciliations_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.start_runs
    ADD CONSTRAINT start_runs_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.events(key) ON DELETE CASCADE;

ALTER TABLE ONLY public.start_tokens
    ADD CONSTRAINT start_tokens_installation_fkey FOREIGN KEY (installation) REFERENCES public.installations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.unmanaged_channels
    ADD CONSTRAINT unmanaged_channels_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_delivery_fkey FOREIGN KEY (delivery) REFERENCES public.webhook_deliveries(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_message_fkey FOREIGN KEY (message) REFERENCES public.webhook_messages(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_webhook_fkey FOREIGN KEY (webhook) REFERENCES public.webhooks(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.apps(bundle_id) ON DELETE CASCADE;

