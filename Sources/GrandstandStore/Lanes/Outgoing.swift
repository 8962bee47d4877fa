internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The requests to APNs for the messages that lanes took: contents and addresses are read once it is known which
/// messages go.
struct Outgoing {
    struct Item {
        let lane: Int
        let audience: Audience
        /// Of a lane of one token.
        let token: DeviceToken?
        let message: LaneMessage
    }

    private(set) var items: [Item] = []

    var isEmpty: Bool { items.isEmpty }

    mutating func add(_ message: LaneMessage, of lane: Lane) {
        items.append(Item(lane: lane.id, audience: lane.audience, token: lane.token, message: message))
    }

    /// The organisers' parts of the messages.
    var contents: PostgresQuery {
        let ids = Set(items.lazy.flatMap { [$0.message.broadcast, $0.message.content] })
        return """
            select id, \(BroadcastRows.columns), greatest(accepted_at, send_at) as asked_at from broadcasts
            where id = any(\(Array(ids)))
            """
    }

    static func contents(_ rows: PostgresRows) throws -> [UUID: BroadcastContent] {
        var contents: [UUID: BroadcastContent] = [:]
        for row in rows { contents[try row.decode("id")] = try row.content() }
        return contents
    }

    /// When each was accepted, or was to go.
    static func times(_ rows: PostgresRows) throws -> [UUID: Date] {
        var times: [UUID: Date] = [:]
        for row in rows { times[try row.decode("id")] = try row.decode("asked_at") }
        return times
    }

    /// The addresses of the apps.
    var destinations: PostgresQuery {
        let apps = Set(items.lazy.map(\.audience.app)).sorted { one, other in
            (one.bundleID.rawValue, one.environment.rawValue) < (other.bundleID.rawValue, other.environment.rawValue)
        }
        return """
            select \(PostgresChannelStore.addressColumns)
            from unnest(\(apps.map(\.bundleID.rawValue)), \(apps.map(\.environment.rawValue)))
                as r(bundle_id, environment)
            join app_environments ae on ae.bundle_id = r.bundle_id and ae.environment = r.environment::environment
            \(PostgresChannelStore.addressJoins)
            """
    }

    /// The requests.
    ///
    /// - Parameters:
    ///   - ids: of messages that were written just now, by lane.
    ///   - contents: by broadcast.
    ///   - times: by broadcast, when it was accepted or was to go.
    ///   - rows: of `destinations`.
    func deliveries(
        ids: [Int: Int] = [:], contents: [UUID: BroadcastContent], times: [UUID: Date], destinations rows: PostgresRows
    ) throws -> [ClaimedDelivery] {
        let addresses = try Self.addresses(rows)
        return items.compactMap { item in
            let (audience, message) = (item.audience, item.message)
            guard let id = message.id ?? ids[item.lane], let address = addresses[audience.app],
                let body = Self.body(of: item, contents), let request = Self.request(item, body)
            else { return nil }
            return ClaimedDelivery(
                id: id, lane: item.lane, address: address, storagePolicy: audience.storagePolicy,
                message: request, attempts: message.attempts, expiresAt: message.expiresAt,
                askedAt: times[message.broadcast])
        }
    }

    private static func addresses(_ rows: PostgresRows) throws -> [AppEnvironment: APNsAddress] {
        var addresses: [AppEnvironment: APNsAddress] = [:]
        for row in rows {
            let address = try PostgresChannelStore.address(row)
            addresses[address.app] = address
        }
        return addresses
    }

    private static func request(_ item: Item, _ body: [UInt8]) -> ClaimedDelivery.Message? {
        let message = item.message
        if let token = item.token {
            return .push(
                DevicePush(
                    token: token, body: body, priority: message.priority, expiration: message.apnsExpiration,
                    requestID: message.requestID), isStart: message.isStart)
        }
        return message.channelID.map { channelID in
            .broadcast(
                BroadcastMessage(
                    channelID: channelID, body: body, priority: message.priority, expiration: message.apnsExpiration,
                    requestID: message.requestID))
        }
    }

    /// A message to tokens: everything but the tokens.
    struct Push {
        let delivery: Int
        let lane: Int
        let address: APNsAddress
        let body: [UInt8]
        let message: LaneMessage
    }

    /// The messages to tokens.
    ///
    /// - Parameters: as of `deliveries`.
    func pushes(contents: [UUID: BroadcastContent], destinations rows: PostgresRows) throws -> [Push] {
        let addresses = try Self.addresses(rows)
        return items.compactMap { item in
            guard let delivery = item.message.id, let address = addresses[item.audience.app],
                let body = Self.body(of: item, contents)
            else { return nil }
            return Push(delivery: delivery, lane: item.lane, address: address, body: body, message: item.message)
        }
    }

    /// The body as the message goes now: perhaps without its alert, or with the content of another.
    private static func body(of item: Item, _ contents: [UUID: BroadcastContent]) -> [UInt8]? {
        let (message, variant) = (item.message, item.audience.variant)
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
