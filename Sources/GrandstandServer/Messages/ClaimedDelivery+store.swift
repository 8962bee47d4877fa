internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Contents and addresses are read only after it is known which messages are sent (`Lane.take`).
extension ClaimedDelivery {
    /// The statements that read what the requests for messages are made of.
    static func reading(_ taken: [(lane: Lane, message: LaneMessage)]) -> [PostgresQuery] {
        taken.isEmpty ? [] : [contents(taken), destinations(taken)]
    }

    /// The query for the contents that organisers wrote.
    private static func contents(_ taken: [(lane: Lane, message: LaneMessage)]) -> PostgresQuery {
        let ids = Set(taken.lazy.flatMap { [$0.message.broadcast, $0.message.content] })
        return """
            select id, \(BroadcastRows.content), greatest(accepted_at, send_at) as asked_at from broadcasts
            where id = any(\(Array(ids)))
            """
    }

    /// The query for the addresses of the apps.
    private static func destinations(_ taken: [(lane: Lane, message: LaneMessage)]) -> PostgresQuery {
        let apps = Set(taken.lazy.map { $0.lane.audience.app }).sorted { one, other in
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

    /// - Parameter results: the results of statements that end with those of `reading`.
    static func read(
        _ results: [PostgresRows], of taken: [(lane: Lane, message: LaneMessage)], by replica: UUID
    ) throws -> [ClaimedDelivery] {
        guard !taken.isEmpty else { return [] }
        var contents: [UUID: (request: BroadcastRequest, askedAt: Date)] = [:]
        for row in results[results.count - 2] {
            contents[try row.decode("id")] = (try row.content(), try row.decode("asked_at"))
        }
        var addresses: [AppEnvironment: APNsAddress] = [:]
        for row in results[results.count - 1] {
            let address = try ChannelStore.address(row)
            addresses[address.app] = address
        }
        return taken.compactMap { lane, message in
            let (own, other) = (contents[message.broadcast], contents[message.content])
            guard let address = addresses[lane.audience.app], let own, let other,
                let body = Self.body(of: message, to: lane.audience.variant, own.request, other.request)
            else { return nil }
            return ClaimedDelivery(
                lane: lane.id, message: message, address: address, body: body, askedAt: own.askedAt, replica: replica)
        }
    }

    /// The body as the message is sent now: perhaps without its alert, or with the content of another message.
    private static func body(
        of message: LaneMessage, to variant: Variant?, _ own: BroadcastRequest, _ other: BroadcastRequest
    ) -> [UInt8]? {
        guard let timestamp = message.timestamp else { return nil }
        var payload = own.payload(for: variant)
        if !message.alerting { payload.alert = nil }
        // A token that comes late may get the content of an `end`, although the event continues.
        if !message.isEnd { (payload.event, payload.dismissalDate) = (.update, nil) }
        if message.contentOf != nil {
            let content = other.payload(for: variant)
            payload.contentState = content.contentState
            payload.staleDate = content.staleDate
            payload.relevanceScore = content.relevanceScore
        }
        return payload.body(timestamp: timestamp)
    }
}
