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
    /// - Returns: the apps of the audiences before and after, the audit log's reasons for audiences that get another
    ///   channel, and warnings about audiences that lose their channel.
    func writeAudiences(
        _ wanted: [Audience], started chosen: [Contract.AudienceSelector]?
    ) async throws -> (apps: Set<BundleID>, reasons: [BundleID: String], warnings: [String]) {
        let key = key.rawValue
        let rows = try await connection.query(
            "select \(AudienceColumns.all()), starts, lane from audiences where event_key = \(key) order by position")
        let declared = try rows.map { try AudienceColumns.audience($0) }
        let apps = Set((declared + wanted).map(\.bundleID))
        let started: [Bool] = try rows.map { try $0.decode("starts") }
        let starts = wanted.map { audience in chosen?.contains { $0.matches(audience.id) } ?? true }
        guard declared != wanted || started != starts else { return (apps, [:], []) }
        func row(_ place: Int) -> AudienceColumns.Row { (key, place, wanted[place], starts[place]) }
        guard !rows.isEmpty else {
            try await connection.query(AudienceColumns.columns.insert(wanted.indices.map(row)))
            return (apps, [:], [])
        }
        let lanes: [Int] = try rows.map { try $0.decode("lane") }
        let positions = Dictionary(uniqueKeysWithValues: zip(lanes, lanes.indices))
        let known = Set(declared.map(\.id))
        var former: [Int] = []
        for audience in wanted where !known.contains(audience.id) {
            former += try await connection.query(formerLane(of: audience)).map { try $0.decode("lane") }
        }
        // Activities with tokens are counted once for each app, with its first audience.
        var left = Set(
            try await connection.query(
                """
                select distinct bundle_id as "bundleID", environment from crowds where event_key = \(key)
                """
            ).read(AppEnvironment.self)
        ).subtracting(wanted.map(\.app))
        var places = Dictionary(uniqueKeysWithValues: zip(wanted.map(\.id), wanted.indices))
        var (reasons, warnings): ([BundleID: [String]], [String]) = ([:], [])
        var changes: [(lane: Int, from: AudienceColumns.Row, to: AudienceColumns.Row)] = []
        try await LaneRows.changeAll("\(lanes + former)", at: now, on: connection) { all in
            for index in all.indices {
                let (lane, before, position) = (all[index], all[index].audience, positions[all[index].id])
                let from: AudienceColumns.Row? = position.map { (key, $0, before, started[$0]) }
                guard let place = places.removeValue(forKey: before.id) else {
                    all[index].close(at: now)
                    if let from { changes.append((lane.id, from, (nil, from.position, before, from.starts))) }
                    guard lane.fencedAt == nil else { continue }
                    warnings += DeclarationWarnings.removing(
                        before.id, channelID: lane.channel?.channelID, hasTokens: left.remove(before.app) != nil)
                    continue
                }
                let audience = wanted[place]
                // What the row of an audience that comes back has is not known, so each of these columns is written.
                changes.append((lane.id, from ?? (nil, -1, before, !starts[place]), row(place)))
                if position == nil, let closedAt = lane.closedAt { all[index].reopen(closedAt: closedAt) }
                guard audience != before else { continue }
                all[index].change(audience, at: now)
                if audience.delivery == .channel, audience.storagePolicy != before.storagePolicy {
                    reasons[audience.bundleID, default: []].append(
                        "the audience\(audience.variant.map { " \($0)" } ?? "") in \(audience.environment.rawValue) gets "
                            + "another channel, for its storage policy is \(audience.storagePolicy.rawValue) now")
                    warnings += lane.channel?.channelID.map { [audience.warning(lost: $0)] } ?? []
                }
            }
        }
        changes.removeAll { AudienceColumns.columns.isSame($0.from, $0.to) }
        if !changes.isEmpty {
            try await connection.query(
                AudienceColumns.columns.update(
                    changes.map(\.to), from: changes.map(\.from), ids: changes.map(\.lane)))
        }
        let added = places.values.sorted().map(row)
        if !added.isEmpty { try await connection.query(AudienceColumns.columns.insert(added)) }
        try await connection.query(takeOverTokens(from: lanes))
        try await connect()
        return (apps, reasons.mapValues { $0.joined(separator: "; ") }, warnings)
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
    private func takeOverTokens(from lanes: [Int]) -> PostgresQuery {
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
    private func connect() async throws {
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
