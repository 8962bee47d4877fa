internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The requests to APNs for the messages that lanes send now (`Lane.take`). Contents and addresses are read only after
/// it is known which messages are sent.
struct Outgoing {
    /// The messages, each with its lane.
    private(set) var items: [(lane: Lane, message: LaneMessage)] = []

    var isEmpty: Bool { items.isEmpty }

    mutating func add(_ message: LaneMessage, of lane: Lane) {
        items.append((lane, message))
    }

    /// The query for the contents that organisers wrote.
    var contents: PostgresQuery {
        let ids = Set(items.lazy.flatMap { [$0.message.broadcast, $0.message.content] })
        return """
            select id, \(BroadcastRows.content), greatest(accepted_at, send_at) as asked_at from broadcasts
            where id = any(\(Array(ids)))
            """
    }

    static func contents(_ rows: PostgresRows) throws -> [UUID: BroadcastContent] {
        var contents: [UUID: BroadcastContent] = [:]
        for row in rows { contents[try row.decode("id")] = try row.content() }
        return contents
    }

    /// When each broadcast was accepted or, if it was scheduled, was to be sent.
    static func times(_ rows: PostgresRows) throws -> [UUID: Date] {
        var times: [UUID: Date] = [:]
        for row in rows { times[try row.decode("id")] = try row.decode("asked_at") }
        return times
    }

    /// The query for the addresses of the apps.
    var destinations: PostgresQuery {
        let apps = Set(items.lazy.map { $0.lane.audience.app }).sorted { one, other in
            (one.bundleID.rawValue, one.environment.rawValue) < (other.bundleID.rawValue, other.environment.rawValue)
        }
        return """
            select \(ChannelStore.addressColumns)
            from unnest(\(apps.map(\.bundleID.rawValue)), \(apps.map(\.environment.rawValue)))
                as r(bundle_id, environment)
            join app_environments ae on ae.bundle_id = r.bundle_id and ae.environment = r.environment::environment
            \(ChannelStore.addressJoins)
            """
    }

    /// The requests.
    ///
    /// - Parameters:
    ///   - contents: the contents, by broadcast.
    ///   - times: when each broadcast was accepted or, if it was scheduled, was to be sent.
    ///   - rows: the rows that the statement `destinations` returned.
    func deliveries(
        contents: [UUID: BroadcastContent], times: [UUID: Date], destinations rows: PostgresRows
    ) throws -> [ClaimedDelivery] {
        let addresses = try Self.addresses(rows)
        return items.compactMap { lane, message in
            guard let id = message.id, let address = addresses[lane.audience.app],
                let channelID = message.channelID,
                let body = Self.body(of: message, to: lane.audience.variant, contents)
            else { return nil }
            return ClaimedDelivery(
                id: id, lane: lane.id, address: address, channelID: channelID, body: body, priority: message.priority,
                expiration: message.apnsExpiration, requestID: message.requestID, attempts: message.attempts,
                expiresAt: message.expiresAt, askedAt: times[message.broadcast])
        }
    }

    private static func addresses(_ rows: PostgresRows) throws -> [AppEnvironment: APNsAddress] {
        var addresses: [AppEnvironment: APNsAddress] = [:]
        for row in rows {
            let address = try ChannelStore.address(row)
            addresses[address.app] = address
        }
        return addresses
    }

    /// A message to tokens: everything but the tokens.
    struct Push {
        let delivery: Int
        let lane: Int
        let address: APNsAddress
        let body: [UInt8]
        let message: LaneMessage
    }

    /// The messages to tokens, made from the same rows as `deliveries`.
    func pushes(contents: [UUID: BroadcastContent], destinations rows: PostgresRows) throws -> [Push] {
        let addresses = try Self.addresses(rows)
        return items.compactMap { lane, message in
            guard let delivery = message.id, let address = addresses[lane.audience.app],
                let body = Self.body(of: message, to: lane.audience.variant, contents)
            else { return nil }
            return Push(delivery: delivery, lane: lane.id, address: address, body: body, message: message)
        }
    }

    /// The body as the message is sent now: perhaps without its alert, or with the content of another message.
    private static func body(
        of message: LaneMessage, to variant: Variant?, _ contents: [UUID: BroadcastContent]
    ) -> [UInt8]? {
        guard let timestamp = message.timestamp, var payload = contents[message.broadcast]?.payload(for: variant),
            let content = contents[message.content]?.payload(for: variant)
        else { return nil }
        if !message.alerting { payload.alert = nil }
        if message.contentOf != nil {
            payload.contentState = content.contentState
            payload.staleDate = content.staleDate
            payload.relevanceScore = content.relevanceScore
        }
        return payload.body(timestamp: timestamp)
    }
}
