internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The order in which free places of the quota are given to channels.
extension ChannelStore {
    /// Which places a channel `c` with its event `e` may take from events that are over: 2 also those that are kept
    /// (`isKept`), 1 the others, 0 none. A channel without an event counts as one whose event may start at any time.
    static func urgency(now: Date) -> PostgresQuery {
        """
        case \(EventStore.state(now: now)) when 'live' then 2 when 'scheduled' then coalesce(
            (e.starts_at <= \(now.addingTimeInterval(ChannelTenure.neededBefore)))::integer, 1) else 0 end
        """
    }

    /// The SQL order by need, for channels `c` with their events `e`. The first criterion is the urgency, because a
    /// place that an urgent event took from another event must not go to a third one. The second criterion is the time
    /// at which the channel is needed: the event's opening, otherwise the kick-off, otherwise the declaration. The next
    /// criteria are the kick-off and the declaration.
    static func need(now: Date) -> PostgresQuery {
        """
        \(urgency(now: now)) desc, coalesce(e.channels_open_at, e.starts_at, e.created_at, c.created_at), e.starts_at,
        coalesce(e.created_at, c.created_at), c.id
        """
    }

    /// Whether a channel is retiring and no device needs it. Such a channel is kept only because of
    /// `GRANDSTAND_RETIRE_AFTER`.
    static func isIdle(now: Date) -> PostgresQuery {
        "state = 'retiring' and (needed_until is null or needed_until <= \(now))"
    }

    /// Whether an idle channel keeps its place unless a live event waits (`ChannelTenure.keptAfterEnd`). The time counts
    /// from the end of its event, or from the channel's retirement if the event is not over or was removed.
    static func isKept(now: Date) -> PostgresQuery {
        """
        (coalesce((select coalesce(ended_at, cancelled_at) from events where key = event_key), changed_at)
            > \(now.addingTimeInterval(-ChannelTenure.keptAfterEnd)))
        """
    }

    /// The reason that is stored for a channel that was deleted early, because another channel needed its place.
    static let placeNeeded: PostgresQuery = "'its place was needed'"

    /// Whether a failed channel `c` may try again. A channel that waits for the quota may try at any time, because
    /// otherwise a later channel could take the place first.
    private static func mayTryAgain(now: Date) -> PostgresQuery {
        """
        c.state = 'failed' and (c.next_attempt_at <= \(now)
            or c.reason = 'quota-exhausted' and c.next_attempt_at is not null)
        """
    }

    /// Takes the same locks as `reserve`, in a fixed order, so that the count of channels in `admit` stays true until
    /// the commit.
    static func lockQuotas(now: Date) -> PostgresQuery {
        """
        select from app_environments ae where (ae.bundle_id, ae.environment) in (
            select c.bundle_id, c.environment from channels c where \(mayTryAgain(now: now)))
        order by ae.bundle_id, ae.environment for update
        """
    }

    /// The number of free places in the quota of an app `a` with its environment `ae`.
    static let places: PostgresQuery = """
        least(a.channel_limit, \(APNsLimits.channels) - (
            select count(*) from unmanaged_channels u
            where u.bundle_id = a.bundle_id and u.environment = ae.environment)) - (
        select count(*) from channels c where c.bundle_id = a.bundle_id and c.environment = ae.environment
            and c.state in \(Channel.State.sql(.countsAgainstQuota)))
        """

    /// The number of attempts to delete a channel after which the channel's place no longer counts as a place that will
    /// soon be free.
    private static let hopefulDeletions = 3

    /// While Apple has no place left, only one creation is tried. The other creations wait for this number of seconds.
    private static let placePause = 20

    /// Lets as many failed channels try again as the quota has room for, in the order `need`. If Apple refused the last
    /// creation because Apple has no place left, only the first channel that is due tries again, because all channels
    /// would get the same answer. A channel that tries again loses the reason `quota-exhausted`, because it no longer
    /// waits for the quota. For each place that an urgent event lacks, one idle channel is deleted immediately. The
    /// place of the idle channel becomes free when Apple has confirmed the deletion. The confirmation wakes the next
    /// alignment, which assigns the places.
    static func admit(now: Date) -> PostgresQuery {
        """
        with due as materialized (
            select c.id, c.bundle_id, c.environment, \(urgency(now: now)) as urgency,
                row_number() over (partition by c.bundle_id, c.environment order by \(need(now: now))) as place,
                c.next_attempt_at <= \(now) as is_due, row_number() over (partition by c.bundle_id, c.environment,
                    c.next_attempt_at <= \(now) order by \(need(now: now))) as turn
            from channels c left join lateral \(event) on true where \(mayTryAgain(now: now))
        ), room as materialized (
            -- Counted once for each app and environment, not for each channel.
            select a.bundle_id, ae.environment, w.live, w.urgent, ae.full_since is not null as is_full,
                \(places) as places, (
                select count(*) from channels c where c.bundle_id = a.bundle_id and c.environment = ae.environment
                    and c.state = 'deleting' and c.attempts <= \(hopefulDeletions)) as leaving
            from (select bundle_id, environment, count(*) filter (where urgency = 2) as live,
                    count(*) filter (where urgency > 0) as urgent from due group by bundle_id, environment) w
            join apps a using (bundle_id) join app_environments ae using (bundle_id, environment)
        ), lacking as (
            select *, live - places - leaving as for_live, greatest(0, urgent - places - leaving) as for_urgent from room
        ), judged as (
            select due.id, room.is_full and room.places > 0 as waits_for_apple,
                case when room.is_full then due.is_due and due.turn = 1 and room.places > 0
                    else due.place <= room.places end as goes
            from due join room using (bundle_id, environment)
        ), spared as (
            \(move("""
                c.id = any(array(
                select i.id from lacking room cross join lateral (
                    select id from channels where bundle_id = room.bundle_id and environment = room.environment
                        and \(isIdle(now: now)) and (room.for_live > 0 or not \(isKept(now: now)))
                    order by \(isKept(now: now)), retire_at, id limit greatest(room.for_live, (
                        select count(*) from (
                            select from channels where bundle_id = room.bundle_id and environment = room.environment
                                and \(isIdle(now: now)) and not \(isKept(now: now)) limit room.for_urgent) k))
                    for no key update skip locked) i))
                """, from: [.retiring], to: .deleting, reason: placeNeeded, due: "\(now)", also: ", attempts = 0",
                at: now))
        )
        \(move(
            "c.id = j.id and c.id = any(array(select id from due)) and (j.goes or c.next_attempt_at <= \(now))",
            with: "judged j", from: [.failed], to: .failed, or: (.creating, if: "j.goes"), reason: """
                case when j.goes then nullif(c.reason, 'quota-exhausted')
                    when j.waits_for_apple then \(APNsReason.cannotCreateChannelConfig.rawValue)
                    else 'quota-exhausted' end
                """, due: """
                case when j.goes then \(now)::timestamptz
                    when j.waits_for_apple then \(now) + make_interval(secs => \(placePause))
                    else \(now) + interval '30 seconds' end
                """, at: now))
        """
    }
}
