internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// What departs with its acceptance, as a dispatcher wants it. The message is made of the request in hand; only where
/// to and with which key is asked of the database, once for each app.
extension PostgresOutbox {
    /// Two statements: the rows, under way from the beginning, and the addresses of their apps.
    static func insertDepartures(_ acceptance: Acceptance) -> [PostgresQuery] {
        let rows = acceptance.deliveries.filter { acceptance.departures[$0.lane] != nil }
        let apps = Set(rows.map(\.audience.selector)).sorted { one, other in
            (one.bundleID.rawValue, one.environment.rawValue) < (other.bundleID.rawValue, other.environment.rawValue)
        }
        return [
            """
            insert into deliveries (broadcast_id, lane, state, is_end, alerting, priority, apns_expiration, expires_at,
                apns_request_id, channel_id, content_before, rings_until, attempts, apns_timestamp)
            select broadcast_id, lane, 'sending', is_end, rings_until is not null, priority, apns_expiration, expires_at,
                apns_request_id, channel_id, content_before, rings_until, 1, apns_timestamp
            from unnest(\(rows.map(\.broadcastID)), \(rows.map(\.lane)), \(rows.map(\.isEnd)), \(rows.map(\.ringsUntil)),
                \(rows.map(\.priority.rawValue)), \(rows.map(\.apnsExpiration)), \(rows.map(\.expiresAt)),
                \(rows.map(\.requestID)), \(rows.map(\.channelID)), \(rows.map(\.contentBefore)),
                \(rows.map { acceptance.departures[$0.lane]?.timestamp }))
                as r(broadcast_id, lane, is_end, rings_until, priority, apns_expiration, expires_at, apns_request_id,
                    channel_id, content_before, apns_timestamp)
            returning id, lane
            """,
            """
            select \(destinationColumns)
            from unnest(\(apps.map(\.bundleID.rawValue)), \(apps.map(\.environment.rawValue)))
                as r(bundle_id, environment)
            join app_environments ae on ae.bundle_id = r.bundle_id and ae.environment = r.environment::environment
            \(destinationJoins)
            """,
        ]
    }

    /// What departs, when the transaction is committed.
    ///
    /// - Parameter results: of `statements`.
    static func departing(_ acceptance: Acceptance, _ results: [PostgresRows]) throws -> [ClaimedDelivery] {
        guard !acceptance.departures.isEmpty else { return [] }
        // Before them: how to plan, and the broadcasts.
        let (inserted, addresses) = (results[2], results[3])
        var ids: [Int: Int] = [:]
        for row in inserted { ids[try row.decode("lane")] = try row.decode("id") }
        var known: [Audience.Selector: (address: APNsAddress, wantsExpiration: Bool)] = [:]
        for row in addresses {
            let address = try PostgresChannelStore.address(row)
            known[address.app] = (address, try row.decode("wants_expiration"))
        }
        return acceptance.deliveries.compactMap { row in
            guard let departure = acceptance.departures[row.lane], let id = ids[row.lane],
                let channelID = row.channelID, let (address, wantsExpiration) = known[row.audience.selector]
            else { return nil }
            let expiration = expiration(
                row.apnsExpiration, row.audience.storagePolicy, expiresAt: row.expiresAt,
                wantsExpiration: wantsExpiration)
            return ClaimedDelivery(
                id: id, lane: row.lane, address: address, storagePolicy: row.audience.storagePolicy,
                message: BroadcastMessage(
                    channelID: channelID, body: row.payload.body(timestamp: departure.timestamp),
                    priority: row.priority, expiration: expiration, requestID: row.requestID),
                attempts: 1, expiresAt: row.expiresAt)
        }
    }
}
