internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Rows of the table `deliveries`. Only this file lists its columns. Other files name single columns in their SQL.
enum DeliveryRow {
    static let columns = Columns<(lane: Lane, message: LaneMessage)>(
        "deliveries",
        [
            .init("broadcast_id") { $0.message.broadcast },
            .init("lane") { $0.lane.id },
            .init("state", "delivery_state") { $0.message.state.rawValue },
            .init("leased_until") { leasedUntil($0.message, $0.lane) },
            .init("is_end") { $0.message.isEnd },
            .init("priority") { $0.message.priority.rawValue },
            .init("plain_priority") { $0.message.silentPriority.rawValue },
            .init("alerting") { $0.message.hasAlert },
            .init("rings_until") { $0.message.ringsUntil },
            .init("apns_expiration") { $0.message.apnsExpiration },
            .init("expires_at") { $0.message.expiresAt },
            .init("attempts") { $0.message.attempts },
            .init("refusals") { $0.message.unprocessed },
            .init("next_attempt_at") { $0.message.nextAttemptAt },
            .init("apns_timestamp") { $0.message.timestamp },
            .init("apns_request_id") { $0.message.requestID },
            .init("apns_unique_id") { $0.message.uniqueID },
            .init("channel_id") { $0.message.channelID },
            .init("reason") { $0.message.reason },
            .init("settled_at") { $0.message.settledAt },
            .init("content_before") { $0.message.contentBefore },
            .init("content_of") { $0.message.contentOf },
            .init("content_sent") { $0.message.contentCarried },
            .init("content_bytes") { $0.message.contentBytes },
            .init("alert_bytes") { $0.message.alertBytes },
            .init("tokens", "json") { $0.message.tokens.map { RawJSON(writing: $0).description } },
        ])

    /// The end of the lane's lease while the message is under way. During this time, the lane has no due time for its
    /// channel, so a dispatcher finds the lane by this column.
    static func leasedUntil(_ message: LaneMessage, _ lane: Lane) -> Date? {
        message.state == .sending ? lane[message.kind].lease?.until : nil
    }

    /// The statement that reads messages, in order; `message(_:)` reads its rows.
    ///
    /// - Parameters:
    ///   - condition: a condition on rows `d`.
    ///   - contentBefore: an expression for the column `content_before`.
    static func select(
        where condition: PostgresQuery, contentBefore: PostgresQuery = "d.content_before"
    ) -> PostgresQuery {
        """
        select d.id, \(columns.names(of: "d", except: ["content_before"])), \(contentBefore) as content_before,
            case when d.is_end then (select dismissal_date from broadcasts where id = d.broadcast_id) end as dismissal_date
        from deliveries d where \(condition) order by d.id
        """
    }

    static func message(_ row: PostgresRow) throws -> LaneMessage {
        let isEnd: Bool = try row.decode("is_end")
        return LaneMessage(
            id: try row.decode("id"), broadcast: try row.decode("broadcast_id"), state: try row.word("state"),
            isEnd: isEnd, dismissalDate: try row.decode("dismissal_date"),
            priority: APNsPriority(rawValue: try row.decode("priority")) ?? .powerAware,
            silentPriority: try row.decode(Int?.self, "plain_priority").flatMap(APNsPriority.init(rawValue:))
                ?? (isEnd ? .immediate : .powerAware),
            hasAlert: try row.decode("alerting"), ringsUntil: try row.decode("rings_until"),
            apnsExpiration: try row.decode("apns_expiration"), expiresAt: try row.decode("expires_at"),
            attempts: try row.decode("attempts"), unprocessed: try row.decode("refusals"),
            nextAttemptAt: try row.decode("next_attempt_at"),
            timestamp: try row.decode("apns_timestamp"), requestID: try row.decode("apns_request_id"),
            uniqueID: try row.decode("apns_unique_id"), channelID: try row.decode("channel_id"),
            reason: try row.decode("reason"), settledAt: try row.decode("settled_at"),
            contentBefore: try row.decode("content_before"), contentOf: try row.decode("content_of"),
            contentCarried: try row.decode("content_sent"), contentBytes: try row.decode("content_bytes"),
            alertBytes: try row.decode("alert_bytes"), tokens: try row.json("tokens"))
    }
}

/// Contents and addresses are read only after it is known which messages are sent (`Lane.take`).
extension ClaimedDelivery {
    /// The statements that read what the requests for messages are made of: the contents that organisers wrote, and the
    /// addresses of the apps.
    static func select(_ taken: [(lane: Lane, message: LaneMessage)]) -> [PostgresQuery] {
        guard !taken.isEmpty else { return [] }
        let ids = Array(Set(taken.lazy.flatMap { [$0.message.broadcast, $0.message.source] }))
        let apps = Array(Set(taken.lazy.map(\.lane.audience.app)))
        return [
            """
            select b.id, \(BroadcastRows.draft()), greatest(b.accepted_at, b.send_at) as asked_at from broadcasts b
            where b.id = any(\(ids))
            """,
            """
            select \(ChannelStore.addressColumns)
            from unnest(\(apps.map(\.bundleID.rawValue)), \(apps.map(\.environment.rawValue)))
                as r(bundle_id, environment)
            join app_environments ae on ae.bundle_id = r.bundle_id and ae.environment = r.environment::environment
            \(ChannelStore.addressJoins)
            """,
        ]
    }

    /// - Parameter results: the results of statements that end with those of `select`.
    static func read(
        _ results: [PostgresRows], of taken: [(lane: Lane, message: LaneMessage)], by replica: UUID
    ) throws -> [ClaimedDelivery] {
        guard !taken.isEmpty else { return [] }
        var contents: [UUID: (draft: Contract.BroadcastDraft, askedAt: Date)] = [:]
        for row in results[results.count - 2] {
            contents[try row.decode("id")] = (try row.draft(), try row.decode("asked_at"))
        }
        let addresses: [APNsAddress] = try results[results.count - 1].read()
        return try taken.compactMap { lane, message in
            guard let address = addresses.first(where: { $0.app == lane.audience.app }),
                let own = contents[message.broadcast], let other = contents[message.source]
            else {
                throw PostgresError(.decoding, "message \(message.id ?? 0) waits without its broadcast or its app")
            }
            return ClaimedDelivery(
                message, on: lane, at: address, own: own.draft, content: other.draft, wantedAt: own.askedAt,
                replica: replica)
        }
    }
}
