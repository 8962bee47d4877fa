internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Restarts: an activity that listens to a replaced channel gets no messages any more, so it is started again.
extension StartStore {
    /// Makes the run of an app look for activities that listen to a replaced channel, if the event's start declares
    /// `restart` and the audience of this channel had another channel before.
    static func restart(_ channel: Channel, of key: EventKey) -> PostgresQuery {
        """
        update start_runs set restart_after = 0
        where event_key = \(key.rawValue) and closed_at is null
            and exists (select from event_starts where event_key = \(key.rawValue) and restarts)
            and app = (select id from app_environments where bundle_id = \(channel.bundleID.rawValue)
                and environment = \(channel.environment.rawValue)::environment)
            and exists (select from (select * from channels where event_key = \(key.rawValue) offset 0) k
                where k.id <> \(channel.id) and k.channel_id is not null
                    and \(AudienceColumns.isSame("k", channel.audience)))
        """
    }

    /// The maximum number of activities that one turn of a run looks at.
    private static let page = 2_000

    /// Makes the starts of the next activities that listen to a replaced channel pending, as if they had not been sent.
    /// If a push started an activity, the app may not have reported the activity's channel. Such an activity counts as
    /// listening to the replaced channel if it was first reported before the new channel was made. An activity with an
    /// update token does not count, because messages reach it by its token.
    static func restart(
        _ run: inout StartRun, _ shard: StartShard, _ claim: ShardClaim, on connection: PostgresConnection
    ) async throws {
        guard let after = run.restartAfter else { return }
        let channels = shard.pushes.filter { $0.channelID != nil }
        let rows = try await connection.query(
            """
            with page as (
                select * from activities where event_key = (select event_key from start_runs where id = \(run.id))
                    and id > \(after) order by id limit \(page)
            )
            select a.id, a.installation, a.app = \(run.app) and a.state in ('active', 'stale') and a.update_token is null
                and a.attributes_type = \(shard.attributesType)
                and exists (
                    select from unnest(\(channels.map(\.variant)), \(channels.map(\.channelID)),
                            \(channels.map(\.channelMadeAt)))
                        as c(variant, channel_id, made_at)
                    where c.variant = a.variant
                        and coalesce(a.channel_id <> c.channel_id, a.first_reported_at < c.made_at))
                and (select system_version >= \(SystemVersion.firstWithChannels.number) from installations
                    where id = a.installation) as is_deaf
            from page a order by a.id
            """)
        run.restartAfter = rows.count < page ? nil : try rows.last?.decode("id")
        let deaf = Set(
            try rows.filter { try $0.decode(Bool?.self, "is_deaf") ?? false }.map {
                try $0.decode(Int.self, "installation")
            })
        guard !deaf.isEmpty else { return }
        try await connection.query(
            """
            insert into starts (run, installation, due_at, at)
            select \(run.id), n, \(claim.at), \(claim.at) from unnest(\(deaf.sorted())) n order by n
            on conflict (run, installation) do update set state = 'pending', due_at = excluded.due_at, attempts = 0,
                reason = null, at = excluded.at, confirmed_at = null, token = null
            """)
    }
}
