internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// Rows of the table `broadcasts`. Only this file lists the columns that are inserted. Other statements name single
/// columns, to filter, read or update.
enum BroadcastRows {
    private typealias Column = Columns<Acceptance.BroadcastRow>.Column

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
        .init("audiences", "json") { $0.request.audiences.map(AudienceSelectors.text) },
    ]

    private static let others: [Column] = [
        .init("id") { $0.id },
        .init("event_key") { $0.intake.target.eventKey?.rawValue },
        .init("channel") { $0.intake.target.channel },
        .init("accepted_at") { $0.acceptedAt },
        .init("accepted_by") { $0.intake.actor.text },
        .init("send_at") { $0.request.sendAt },
        .init("send_after_start") { $0.request.sendAfterStart },
        .init("scheduled") { $0.isScheduled },
        .init("reach", sql: "string_to_array(r.reach, ' ')") { row in
            row.isScheduled ? row.intake.reach.topics?.joined(separator: " ") : nil
        },
        .init("state_outcome", "state_outcome") { $0.state?.outcome.rawValue },
        .init("state_rule") { $0.state?.rule },
        .init("warnings", sql: "string_to_array(r.warnings, e'\\n')") { $0.warnings.joined(separator: "\n") },
    ]

    /// The columns that an acceptance fills.
    static let columns = Columns("broadcasts", organisers + asked + others)

    /// The columns that `PostgresRow.content` reads, of rows without an alias.
    static let content = Columns.names(organisers)

    /// The columns that `PostgresRow.request` reads, of rows `b`.
    static let request = Columns.names(organisers + asked, of: "b")

    private static func payload(_ row: Acceptance.BroadcastRow) -> BroadcastPayload { row.request.payload }

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

extension PostgresRow {
    /// The request as it was made, from the columns of `broadcasts`.
    func request() throws -> BroadcastRequest {
        let content = try content()
        var request = BroadcastRequest(
            payload: content.payload, priority: try optionalPriority("priority"), expiresIn: try decode("expires_in"),
            apnsExpiration: try decode("apns_expiration"),
            audiences: try decode(PostgresJSON?.self, "audiences").map { try AudienceSelectors.read($0.bytes) })
        request.byVariant = content.byVariant
        return request
    }

    /// The organiser's part of the message, from the columns of `broadcasts`.
    func content() throws -> BroadcastContent {
        let payload = BroadcastPayload(
            event: try word("event"), contentState: try decode(PostgresJSON?.self, "content_state")?.bytes,
            alert: try decode(PostgresJSON?.self, "alert")?.bytes, staleDate: try decode("stale_date"),
            dismissalDate: try decode("dismissal_date"),
            relevanceScore: try decode(PostgresJSON?.self, "relevance_score")?.bytes)
        guard let byVariant = try decode(PostgresJSON?.self, "by_variant") else { return BroadcastContent(payload) }
        return BroadcastContent(payload, byVariant: try JSONValue(decoding: byVariant.bytes).decode())
    }
}
