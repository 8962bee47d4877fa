internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

extension Intake {
    /// Reads a scheduled broadcast `b` whose `sendAt` has come. Its key reached certain apps when it was accepted.
    ///
    /// - Returns: `nil` when the row of the broadcast's channel is gone.
    init?(scheduled row: PostgresRow) throws {
        guard let target = try row.target() else { return nil }
        // The audit log got the real actor when the broadcast was accepted, so the value of `actor:` has no effect here.
        self.init(
            target: target, request: try row.draft(), actor: .server,
            reach: AppReach(named: try row.decode("reach")), at: try row.decode("accepted_at"),
            id: try row.decode("id"), sendAt: try row.decode("send_at"))
    }
}

extension PostgresRow {
    /// - Returns: `nil` when the row of the broadcast's channel is gone.
    func target() throws -> BroadcastTarget? {
        if let key: EventKey = try optionalWord("event_key") { return .event(key) }
        return try decode(UUID?.self, "channel").map(BroadcastTarget.channel)
    }
}

/// Rows of the table `broadcasts`.
enum BroadcastRows {
    /// The columns that an acceptance fills.
    static let columns = Columns<Intake>(
        "broadcasts",
        [
            .init("id") { $0.id },
            .init("event_key") { $0.target.eventKey?.rawValue },
            .init("channel") { $0.target.channel },
            .init("accepted_at") { $0.at },
            .init("accepted_by") { $0.actor.text },
            .init("event", "broadcast_event") { $0.request.event.rawValue },
            .init("content_state", "json") { $0.request.contentState?.description },
            .init("alert", "json") { $0.request.alert?.description },
            .init("by_variant", "json") { json($0.request.byVariant.flatMap { $0.isEmpty ? nil : $0 }) },
            .init("audiences", "json") { json($0.request.audiences?.map(\.asRequested)) },
            .init("priority") { $0.request.priority },
            .init("expires_in") { $0.request.expiresIn },
            .init("apns_expiration") { $0.request.apnsExpiration },
            .init("stale_date") { $0.request.staleDate?.epoch },
            .init("dismissal_date") { $0.request.dismissalDate?.epoch },
            .init("relevance_score", "json") { $0.request.relevanceScore?.description },
            .init("send_at") { $0.sendAt },
            .init("send_after_start") { $0.request.afterStart },
            .init("scheduled") { $0.isScheduled },
            .init("reach", sql: "string_to_array(r.reach, ' ')") { row in
                row.isScheduled ? row.reach.topics?.joined(separator: " ") : nil
            },
            .init("state_outcome", "state_outcome") { $0.decision?.outcome.rawValue },
            .init("state_rule") { $0.decision?.rule },
            .init("warnings", sql: "string_to_array(r.warnings, e'\\n')") { $0.warnings.joined(separator: "\n") },
        ])

    private static func json(_ value: (some Encodable)?) -> String? { value.map { RawJSON(writing: $0).description } }

    /// What `PostgresRow.draft` or `read` make a `Contract.BroadcastDraft` of: the message of a row `b` as it was asked for, but
    /// without the time at which it is to be sent.
    ///
    /// - Parameter member: the name and a point of the member that it becomes; empty: it is the whole value.
    static func draft(of member: String = "") -> PostgresQuery {
        PostgresQuery(
            unsafeSQL: """
                b.event as "\(member)event", b.content_state as "\(member)contentState", b.alert as "\(member)alert",
                b.by_variant as "\(member)byVariant", b.audiences as "\(member)audiences",
                b.priority as "\(member)priority", b.expires_in as "\(member)expiresIn",
                b.apns_expiration as "\(member)apnsExpiration", to_timestamp(b.stale_date) as "\(member)staleDate",
                to_timestamp(b.dismissal_date) as "\(member)dismissalDate",
                b.relevance_score as "\(member)relevanceScore", null::json as "\(member)sendAt"
                """)
    }

    /// The content that a variant gets, as the organiser wrote it.
    ///
    /// - Parameters:
    ///   - row: a row of `broadcasts`.
    ///   - variant: an expression for the variant's text.
    static func contentState(_ row: PostgresQuery, for variant: PostgresQuery) -> PostgresQuery {
        "coalesce(\(row).by_variant -> \(variant) -> 'contentState', \(row).content_state)"
    }
}

extension PostgresRow {
    /// Reads the columns of `BroadcastRows.draft`. Claims do this for each message, and `read` takes several times as long.
    func draft() throws -> Contract.BroadcastDraft {
        func json(_ column: String) throws -> RawJSON? {
            try decode(PostgresJSON?.self, column).map { RawJSON(unchecked: $0.bytes) }
        }
        return Contract.BroadcastDraft(
            event: try word("event"), contentState: try json("contentState"), alert: try json("alert"),
            byVariant: try json("byVariant")?.value.decode(), audiences: try json("audiences")?.value.decode(),
            priority: try decode("priority"), expiresIn: try decode("expiresIn"),
            apnsExpiration: try decode("apnsExpiration"), staleDate: try decode("staleDate"),
            dismissalDate: try decode("dismissalDate"), relevanceScore: try json("relevanceScore"))
    }
}
