internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// A scheduled broadcast whose `sendAt` has come, read from its row.
struct ScheduledBroadcast {
    let id: UUID
    let request: BroadcastRequest
    let intake: Intake
    let acceptedAt: Date
    /// When the broadcast was to be sent.
    let goesAt: Date

    /// - Returns: `nil` when the row of the broadcast's channel is gone.
    static func target(_ row: PostgresRow) throws -> BroadcastTarget? {
        if let key: EventKey = try row.optionalWord("event_key") { return .event(key) }
        return try row.decode(UUID?.self, "channel").map(BroadcastTarget.channel)
    }

    /// For a broadcast `b` to all audiences of its event: the audiences of those apps that the API key of the broadcast
    /// could access when the broadcast was accepted. Null: the API key could access all apps, or the broadcast names
    /// its audiences.
    static let reached: PostgresQuery = """
        case when b.reach is not null and b.audiences is null and b.event_key is not null then coalesce((
            select json_agg(json_build_object('bundleId', u.bundle_id, 'environment', u.environment))
            from (select distinct bundle_id, environment from audiences where event_key = b.event_key) u
            where lower(u.bundle_id) = any(b.reach)), '[]') end as reached
        """

    init?(_ row: PostgresRow) throws {
        guard let target = try Self.target(row) else { return nil }
        id = try row.decode("id")
        acceptedAt = try row.decode("accepted_at")
        goesAt = max(acceptedAt, try row.decode("send_at"))
        var request = try row.request()
        if let reached = try row.decode(PostgresJSON?.self, "reached") {
            request.audiences = try AudienceSelectors.read(reached.bytes)
        }
        // The audit log got the real actor when the broadcast was accepted, so the value of `by:` has no effect here.
        intake = Intake(target, .broadcast(request), by: .server)
        self.request = request
    }
}

/// The column `broadcasts.audiences`: a JSON list of `{"bundleId", "environment", "variant"?}`.
enum AudienceSelectors {
    static func text(_ selectors: [AudienceSelector]) -> String {
        String(decoding: JSONWriter.text(selectors.map(Contract.AudienceSelector.init)), as: UTF8.self)
    }

    static func read(_ bytes: [UInt8]) throws -> [AudienceSelector] {
        try JSONValue(parsing: bytes).decode([Contract.AudienceSelector].self).map(AudienceSelector.init)
    }
}
