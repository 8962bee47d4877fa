internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A broadcast that waited for its `sendAt`, as its row has it.
struct ScheduledBroadcast {
    let id: UUID
    let intake: BroadcastIntake

    /// - Returns: `nil` when its channel's row is gone.
    static func target(_ row: PostgresRow) throws -> BroadcastTarget? {
        if let key: EventKey = try row.optionalWord("event_key") { return .event(key) }
        if let channel = try row.decode(UUID?.self, "channel") { return .channel(channel) }
        return try TokenAddress(row).map(BroadcastTarget.token)
    }

    init?(_ row: PostgresRow) throws {
        guard let target = try Self.target(row) else { return nil }
        id = try row.decode("id")
        let priority: Int? = try row.decode("priority")
        intake = BroadcastIntake(
            target,
            request: BroadcastRequest(
                payload: try row.payload(), priority: priority.flatMap(APNsPriority.init),
                expiresIn: try row.decode("expires_in"), apnsExpiration: try row.decode("apns_expiration"),
                audiences: try row.decode(PostgresJSON?.self, "audiences").map { try AudienceIDs.read($0.bytes) },
                bodyLimit: target.token == nil ? APNsLimits.broadcastPayload : APNsLimits.devicePayload),
            // Who asked was written down when it was accepted.
            by: .server)
    }
}

extension PostgresRow {
    /// The organiser's part of the message, off the columns of `broadcasts`.
    func payload() throws -> BroadcastPayload {
        BroadcastPayload(
            event: try word("event"), contentState: try decode(PostgresJSON?.self, "content_state")?.bytes,
            alert: try decode(PostgresJSON?.self, "alert")?.bytes, staleDate: try decode("stale_date"),
            dismissalDate: try decode("dismissal_date"),
            relevanceScore: try decode(PostgresJSON?.self, "relevance_score")?.bytes,
            start: try decode(PostgresJSON?.self, "start").flatMap { try StartText.read($0.bytes) })
    }
}

extension TokenAddress {
    /// Off the columns of a lane; `nil`: it is not a token's.
    init?(_ row: PostgresRow) throws {
        guard let token = try row.decode([UInt8]?.self, "token").flatMap(DeviceToken.init(bytes:)) else { return nil }
        self.init(
            app: AppEnvironment(bundleID: try row.word("bundle_id"), environment: try row.word("environment")),
            token: token)
    }
}

/// The column `broadcasts.start`: a JSON object of what only a start has, as the organiser wrote it.
enum StartText {
    static func text(_ start: BroadcastPayload.Start) -> String {
        var writer = JSONWriter()
        writer.object { object in
            object.name("attributesType")
            object.raw(start.attributesType)
            object.name("attributes")
            object.raw(start.attributes)
            switch start.input {
            case .channel(let channelID):
                object.name("inputPushChannel")
                object.raw(channelID)
            case .token: object.member("inputPushToken", true)
            case nil: break
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func read(_ bytes: [UInt8]) throws -> BroadcastPayload.Start? {
        let value = try JSONValue(parsing: bytes)
        guard let type = value["attributesType"], let attributes = value["attributes"] else { return nil }
        let input: BroadcastPayload.Start.Input? =
            if let channel = value["inputPushChannel"] {
                .channel(channel.bytes)
            } else {
                value["inputPushToken"] == nil ? nil : .token
            }
        return BroadcastPayload.Start(attributesType: type.bytes, attributes: attributes.bytes, input: input)
    }
}

/// The column `broadcasts.audiences`: a JSON list of `{"bundleId", "environment"}`.
enum AudienceIDs {
    static func text(_ ids: [Audience.ID]) -> String {
        var writer = JSONWriter()
        writer.array(ids) { writer, id in
            writer.object { object in
                object.member("bundleId", id.bundleID.rawValue)
                object.member("environment", id.environment.rawValue)
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func read(_ bytes: [UInt8]) throws -> [Audience.ID] {
        guard case .array(let elements) = try JSONValue(parsing: bytes).kind else { return [] }
        return elements.compactMap { element in
            var fields = JSONFields(element)
            guard let bundleID = fields.text("bundleId").flatMap(BundleID.init),
                let environment = fields.choice("environment", APNsEnvironment.self)
            else { return nil }
            return Audience.ID(bundleID: bundleID, environment: environment)
        }
    }
}
