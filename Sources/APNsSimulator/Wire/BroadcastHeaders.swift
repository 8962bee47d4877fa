internal import APNsWire

/// The headers of a broadcast, beside its channel (apns-contract 2.2).
struct BroadcastHeaders: Hashable {
    /// Seconds since 1970; 0: one attempt, nothing stored.
    var expiration: Int
    var priority: APNsPriority

    /// Checked in this order:
    ///
    /// 1. `apns-push-type` absent: `MissingPushType`; not `liveactivity`, in any case: `InvalidPushType`
    /// 2. `apns-expiration` absent, not digits only, or not 0 on a channel that stores nothing: `BadExpirationDate`;
    ///    an instant gone by, or more than 8 hours ahead, is undocumented and accepted
    /// 3. `apns-priority` absent or not 1, 5 or 10: `BadPriority`
    init(_ request: SimulatorRequest, storagePolicy: StoragePolicy) throws(Refusal) {
        guard let pushType = request[header: APNsHeader.pushType], !pushType.isEmpty else {
            throw Refusal(.missingPushType)
        }
        guard pushType.lowercased() == PushType.header else { throw Refusal(.invalidPushType) }

        guard let expiration = request[header: APNsHeader.expiration].flatMap(Self.number) else {
            throw Refusal(.badExpirationDate)
        }
        if storagePolicy == .noMessageStored, expiration != 0 { throw Refusal(.badExpirationDate) }

        guard
            let priority = request[header: APNsHeader.priority].flatMap(Self.number).flatMap(
                APNsPriority.init(rawValue:))
        else { throw Refusal(.badPriority) }
        self.expiration = expiration
        self.priority = priority
    }

    /// Digits and nothing else: `Int` by itself would take a sign.
    private static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }
}
