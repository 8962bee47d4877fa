internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Updates an event's audiences, their lanes and their channels when the event is declared again.
extension EventChange {
    /// Writes the rows of `audiences`. `ChannelStore.align` creates and retires channels.
    ///
    /// - Parameters:
    ///   - wanted: the declared audiences.
    ///   - chosen: the audiences that the event's start is for; `nil`: all.
    /// - Returns: the apps of the audiences before and after, and warnings about audiences that are removed or lose their
    ///   channel.
    func writeAudiences(
        _ wanted: [Audience], started chosen: [Contract.AudienceSelector]?
    ) async throws -> (apps: Set<BundleID>, warnings: [String]) {
        let found = try await connection.query(
            """
            select \(AudienceColumns.names()), starts, lane from audiences where event_key = \(key.rawValue)
            order by position
            """)
        let declared: [AudienceColumns.Row] = try found.enumerated().map { place, row in
            (key.rawValue, place, try AudienceColumns.audience(row), try row.decode("starts"))
        }
        let rows: [AudienceColumns.Row] = wanted.enumerated().map { place, audience in
            (key.rawValue, place, audience, chosen?.contains { $0.matches(audience.id) } ?? true)
        }
        let apps = Set((declared + rows).map(\.audience.bundleID))
        guard !declared.isEmpty else {
            try await connection.query(AudienceColumns.upsert(rows))
            return (apps, [])
        }
        guard declared.count != rows.count || !zip(declared, rows).allSatisfy(AudienceColumns.columns.isSame) else {
            return (apps, [])
        }
        let lanes: [Int] = try found.map { try $0.decode("lane") }
        let known = Set(declared.map(\.audience.id))
        var former: [Int] = []
        for audience in wanted where !known.contains(audience.id) {
            former += try await connection.query(formerLane(of: audience)).map { try $0.decode("lane") }
        }
        let declaring = Dictionary(uniqueKeysWithValues: wanted.map { ($0.id, $0) })
        var (removed, warnings): ([Int], [String]) = ([], [])
        try await LaneRows.changeAll("\(lanes + former)", at: now, on: connection) { all in
            for index in all.indices {
                let lane = all[index]
                guard let audience = declaring[lane.audience.id] else {
                    removed.append(lane.id)
                    all[index].close(at: now)
                    if lane.fencedAt == nil {
                        warnings += lane.audience.warnings(removedWithChannel: lane.channel != nil)
                    }
                    continue
                }
                if former.contains(lane.id), let closedAt = lane.closedAt { all[index].reopen(closedAt: closedAt) }
                guard audience != lane.audience else { continue }
                all[index].change(audience, at: now)
                if audience.delivery == .channel, audience.storagePolicy != lane.audience.storagePolicy {
                    warnings += lane.channel?.channelID.map { [audience.warning(lost: $0)] } ?? []
                }
            }
        }
        if !(removed + former).isEmpty {
            try await connection.query(
                """
                update audiences set event_key = case when lane = any(\(former)) then \(key.rawValue)::text end
                where lane = any(\(removed + former))
                """)
        }
        try await connection.pipeline([AudienceColumns.upsert(rows), inheritNewest(from: lanes)])
        try await reuseChannels()
        return (apps, warnings)
    }

    /// Selects the lane of an audience that comes back. If its channel is still active, or if it is reached by tokens, the
    /// audience takes up its old lane, so that timestamps keep rising. If that lane had got its end, it stays closed.
    private func formerLane(of audience: Audience) -> PostgresQuery {
        """
        select l.lane from audiences l
        left join lateral (select state, event_key from channels where id = l.channel offset 0) c on true
        where l.event_key is null and \(AudienceColumns.isSame("l", audience.id))
            and (c.state = 'active' or \(audience.delivery == .tokens))
            and coalesce(c.event_key, (select event_key from broadcasts where id = l.newest_broadcast)) = \(key.rawValue)
        order by l.lane desc limit 1
        """
    }

    /// Tokens of a variant may belong to another audience now. Its lane takes over the last timestamp of the app's lanes
    /// and, if it has no content, the newest content of them. The lanes must be locked.
    ///
    /// - Parameter lanes: those of the audiences that the event had before.
    private func inheritNewest(from lanes: [Int]) -> PostgresQuery {
        """
        update audiences l set tokens_last_timestamp = greatest(l.tokens_last_timestamp, o.last_timestamp),
            newest_broadcast = coalesce(l.newest_broadcast, (
                select b.id from audiences n join broadcasts b on b.id = n.newest_broadcast
                where n.lane = any(\(lanes)) and \(AudienceColumns.isOfSameApp("n", "l"))
                order by b.accepted_at desc, b.id desc limit 1))
        from (select bundle_id, environment, max(greatest(last_timestamp, tokens_last_timestamp)) as last_timestamp
            from audiences where lane = any(\(lanes)) group by bundle_id, environment) o
        where l.lane = any(array(select lane from crowds where event_key = \(key.rawValue)))
            and \(AudienceColumns.isOfSameApp("l", "o"))
        """
    }

    /// Gives audiences their former channels again that are not retired yet.
    private func reuseChannels() async throws {
        let channels = try await connection.query(
            """
            select \(ChannelStore.columns) from (select * from channels where event_key = \(key.rawValue) offset 0) c
            where c.state = 'active'
                and (select channel is distinct from c.id from audiences where lane = \(ChannelStore.audienceLane))
            """
        ).read(Channel.self)
        for channel in channels { try await ChannelStore.connectLanes(to: channel, now: now, on: connection) }
    }
}
