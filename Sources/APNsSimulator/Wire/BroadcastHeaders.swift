internal import APNsWire

/// The headers of a broadcast, except its channel (docs/internals/apns.md 2.2).
enum BroadcastHeaders {
    /// The checks, in this order:
    ///
    /// 1. `apns-push-type` absent: `MissingPushType`; not `liveactivity` (in upper or lower case): `InvalidPushType`
    /// 2. `apns-expiration` absent, not digits only, or not 0 on a channel that stores nothing: `BadExpirationDate`.
    ///    Apple does not document a time in the past or more than 8 hours ahead; both are accepted.
    /// 3. `apns-priority` absent or not 1, 5 or 10: `BadPriority`
    ///
    /// - Returns: `apns-expiration`, seconds since 1970; 0: one attempt, nothing stored.
    static func expiration(_ request: SimulatorRequest, storagePolicy: StoragePolicy) throws(Refusal) -> Int {
        guard let pushType = request[header: APNsHeader.pushType], !pushType.isEmpty else {
            throw Refusal(.missingPushType)
        }
        guard pushType.lowercased() == PushType.header else { throw Refusal(.invalidPushType) }

        guard let expiration = request[header: APNsHeader.expiration].flatMap(number),
            expiration == 0 || storagePolicy.stores
        else { throw Refusal(.badExpirationDate) }

        guard request[header: APNsHeader.priority].flatMap(priority) != nil else { throw Refusal(.badPriority) }
        return expiration
    }

    static func priority(_ text: String) -> APNsPriority? { number(text).flatMap(APNsPriority.init(rawValue:)) }

    /// Parses digits only, because `Int` alone would accept a sign.
    static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }
}
