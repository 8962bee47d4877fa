internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// Rows of the table `broadcasts`. Only this file lists the columns that are inserted. Other statements name single
/// columns, to filter, read or update.
enum BroadcastRows {
    private typealias Column = Columns<Intake>.Column

    private static let organisers: [Column] = [
        .init("event", "broadcast_event") { payload($0).event.rawValue },
        .init("content_state", "json") { payload($0).contentState.map(text) },
        .init("alert", "json") { payload($0).alert.map(text) },
        .init("stale_date") { payload($0).staleDate },
        .init("dismissal_date") { payload($0).dismissalDate },
        .init("relevance_score", "json") { payload($0).relevanceScore.map(text) },
        .init("by_variant", "json") {
            $0.request.byVariant.isEmpty ? nil : text(JSONWriter.text($0.request.byVariant))
        },
    ]

    private static let asked: [Column] = [
        .init("priority") { $0.request.priority?.rawValue },
        .init("expires_in") { $0.request.expiresIn },
        .init("apns_expiration") { $0.request.apnsExpiration },
        .init("audiences", "json") { $0.request.audiences.map { text(JSONWriter.text($0.map(\.declared))) } },
    ]

    private static let others: [Column] = [
        .init("id") { $0.id },
        .init("event_key") { $0.target.eventKey?.rawValue },
        .init("channel") { $0.target.channel },
        .init("accepted_at") { $0.at },
        .init("accepted_by") { $0.actor.text },
        .init("send_at") { $0.request.sendAt },
        .init("send_after_start") { $0.request.sendAfterStart },
        .init("scheduled") { $0.isScheduled },
        .init("reach", sql: "string_to_array(r.reach, ' ')") { row in
            row.isScheduled ? row.reach.topics?.joined(separator: " ") : nil
        },
        .init("state_outcome", "state_outcome") { $0.decision?.outcome.rawValue },
        .init("state_rule") { $0.decision?.rule },
        .init("warnings", sql: "string_to_array(r.warnings, e'\\n')") { $0.warnings.joined(separator: "\n") },
    ]

    /// The columns that an acceptance fills.
    static let columns = Columns("broadcasts", organisers + asked + others)

    /// The columns that `PostgresRow.content` reads, of rows without an alias.
    static let content = Columns.names(organisers)

    /// The columns that `PostgresRow.request` reads, of rows `b`.
    static let request = Columns.names(organisers + asked, of: "b")

    private static func payload(_ row: Intake) -> BroadcastPayload { row.request.payload }

    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The content that a variant gets, as the organiser wrote it.
    ///
    /// - Parameters:
    ///   - row: a row of `broadcasts`.
    ///   - variant: an expression for the variant's text.
    static func contentState(_ row: PostgresQuery, for variant: PostgresQuery) -> PostgresQuery {
        "coalesce(\(row).by_variant -> \(variant) -> 'contentState', \(row).content_state)"
    }
}

extension Intake {
    /// For a broadcast `b` to all audiences of its event: the audiences of those apps that the API key of the broadcast
    /// could access when the broadcast was accepted. Null: the API key could access all apps, or the broadcast names
    /// its audiences.
    static let reached: PostgresQuery = """
        case when b.reach is not null and b.audiences is null and b.event_key is not null then coalesce((
            select json_agg(json_build_object('bundleId', u.bundle_id, 'environment', u.environment))
            from (select distinct bundle_id, environment from audiences where event_key = b.event_key) u
            where lower(u.bundle_id) = any(b.reach)), '[]') end as reached
        """

    /// Reads a scheduled broadcast whose `sendAt` has come.
    ///
    /// - Returns: `nil` when the row of the broadcast's channel is gone.
    init?(scheduled row: PostgresRow) throws {
        guard let target = try row.target() else { return nil }
        var request = try row.request()
        request.sendAt = try row.decode("send_at")
        if let reached = try row.decode(PostgresJSON?.self, "reached") {
            request.audiences = try JSONValue(parsing: reached.bytes).decode()
        }
        // The audit log got the real actor when the broadcast was accepted, so the value of `by:` has no effect here.
        self.init(target, request, by: .server, at: try row.decode("accepted_at"))
        id = try row.decode("id")
    }
}

extension PostgresRow {
    /// - Returns: `nil` when the row of the broadcast's channel is gone.
    func target() throws -> BroadcastTarget? {
        if let key: EventKey = try optionalWord("event_key") { return .event(key) }
        return try decode(UUID?.self, "channel").map(BroadcastTarget.channel)
    }

    /// The request as it was made, from the columns of `broadcasts`.
    func request() throws -> BroadcastRequest {
        var request = try content()
        request.priority = try optionalPriority("priority")
        request.expiresIn = try decode("expires_in")
        request.apnsExpiration = try decode("apns_expiration")
        request.audiences = try decode(PostgresJSON?.self, "audiences").map {
            try JSONValue(parsing: $0.bytes).decode()
        }
        return request
    }

    /// The organiser's part of the message, from the columns of `broadcasts`.
    func content() throws -> BroadcastRequest {
        var request = BroadcastRequest(
            payload: BroadcastPayload(
                event: try word("event"), contentState: try decode(PostgresJSON?.self, "content_state")?.bytes,
                alert: try decode(PostgresJSON?.self, "alert")?.bytes, staleDate: try decode("stale_date"),
                dismissalDate: try decode("dismissal_date"),
                relevanceScore: try decode(PostgresJSON?.self, "relevance_score")?.bytes))
        if let byVariant = try decode(PostgresJSON?.self, "by_variant") {
            request.byVariant = try JSONValue(decoding: byVariant.bytes).decode()
        }
        return request
    }
}
