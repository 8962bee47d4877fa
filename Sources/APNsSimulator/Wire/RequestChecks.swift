internal import APNsWire
internal import JSON

/// The body of a broadcast (docs/internals/apns.md section 4).
enum BroadcastBody {
    /// The checks, in this order:
    ///
    /// 1. empty: `PayloadEmpty`
    /// 2. more than 5,120 bytes: `PayloadTooLarge`
    /// 3. not a JSON object with an object `aps`; no integer `timestamp`; `event` not `update` or `end` (a broadcast
    ///    cannot start an activity); `content-state` absent from an update or not an object; `alert` neither an object
    ///    nor a string; a date or `relevance-score` that is not a number: `BadRequestPayload`
    ///
    /// It is not documented how far APNs itself checks a broadcast's `aps`. The simulator is strict with Apple's keys,
    /// because a device would silently drop the message. Other keys are accepted: those next to `aps` are custom data,
    /// and devices ignore unknown keys inside `aps`.
    static func check(_ body: [UInt8], isCut: Bool) throws(Refusal) {
        if body.isEmpty { throw Refusal(.payloadEmpty) }
        if isCut || body.count > APNsLimits.broadcastPayload { throw Refusal(.payloadTooLarge) }
        guard let aps = JSONValue.aps(body), aps["event"]?.string != "start", isSound(aps) else {
            throw Refusal(.badRequestPayload)
        }
    }

    /// Whether the keys that any event may have (`timestamp`, `event`, `content-state`, `alert`, the dates,
    /// `relevance-score`) are as Apple documents them. The keys that only a start has are not checked here.
    static func isSound(_ aps: JSONValue) -> Bool {
        guard aps["timestamp"]?.integer != nil else { return false }
        switch aps["content-state"]?.kind {
        case .object: guard LivePush.Event(rawValue: aps["event"]?.string ?? "") != nil else { return false }
        case nil: guard aps["event"]?.string == "end" else { return false }
        default: return false
        }
        switch aps["alert"]?.kind {
        case nil, .object, .string: break
        default: return false
        }
        return ["stale-date", "dismissal-date", "relevance-score"].allSatisfy { name in
            switch aps[name]?.kind {
            case nil, .number: true
            default: false
            }
        }
    }
}

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
    static func check(_ request: SimulatorRequest, storagePolicy: StoragePolicy) throws(Refusal) -> Int {
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

/// The body of a create request (docs/internals/apns.md 1.2): a policy and a push type, and nothing else.
struct CreateBody: Hashable {
    var storagePolicy: StoragePolicy

    /// The checks, in this order:
    ///
    /// 1. not a JSON object (an empty body included): `BadRequestPayload`
    /// 2. another key: `BadRequestParams`
    /// 3. the policy absent, or a number other than 0 and 1: `MissingChannelQueueSize` (as observed);
    ///    not a number at all, a string such as `"1"` included: `BadRequestParams`
    /// 4. the push type absent: `MissingPushType`; not exactly `LiveActivity`: `InvalidPushType`
    init(_ body: [UInt8]) throws(Refusal) {
        guard let object = JSONValue(object: body) else { throw Refusal(.badRequestPayload) }
        guard case .object(let members) = object.kind,
            members.allSatisfy({ ["message-storage-policy", "push-type"].contains($0.name) })
        else {
            throw Refusal(.badRequestParams)
        }
        switch object["message-storage-policy"]?.kind {
        case nil: throw Refusal(.missingChannelQueueSize)
        case .number(let text)?:
            guard let policy = StoragePolicy.allCases.first(where: { $0.wireValue == Int(text) }) else {
                throw Refusal(.missingChannelQueueSize)
            }
            storagePolicy = policy
        default: throw Refusal(.badRequestParams)
        }
        guard let pushType = object["push-type"] else { throw Refusal(.missingPushType) }
        guard pushType.string == PushType.json else { throw Refusal(.invalidPushType) }
    }
}

/// A device push (docs/internals/apns.md 3.1, 3.2 and section 4).
enum DevicePush {
    /// Checks the headers, except topic and ID.
    ///
    /// - Returns: `apns-expiration`; `nil` if it is absent.
    /// - Throws: `BadExpirationDate`, `BadPriority`, `BadCollapseId`, in this order.
    static func checkHeaders(_ request: SimulatorRequest) throws(Refusal) -> Int? {
        let expiration = request[header: APNsHeader.expiration]
        if let expiration, BroadcastHeaders.number(expiration) == nil { throw Refusal(.badExpirationDate) }
        if let text = request[header: APNsHeader.priority], BroadcastHeaders.priority(text) == nil {
            throw Refusal(.badPriority)
        }
        if request[header: APNsHeader.collapseID]?.utf8.count ?? 0 > APNsLimits.collapseID {
            throw Refusal(.badCollapseId)
        }
        return expiration.flatMap(BroadcastHeaders.number)
    }

    /// Checks the body, in this order:
    ///
    /// 1. empty: `PayloadEmpty`
    /// 2. more than 4,096 bytes: `PayloadTooLarge`
    /// 3. not a JSON object with an object `aps` whose keys are as documented; `event` not `start` on a push-to-start
    ///    token, or `start` on an activity's token; a start without `attributes-type`, `attributes` or `alert`, or with
    ///    both `input-push-channel` and `input-push-token`: `BadRequestPayload`
    ///
    /// Apple documents no refusal for the cases of check 3; the device silently drops such a push.
    ///
    /// - Parameter isStart: whether the push goes to a push-to-start token; `nil`: the token is unknown.
    static func check(_ body: [UInt8], isCut: Bool, isStart: Bool?) throws(Refusal) {
        if body.isEmpty { throw Refusal(.payloadEmpty) }
        if isCut || body.count > APNsLimits.devicePayload { throw Refusal(.payloadTooLarge) }
        guard let aps = JSONValue.aps(body), BroadcastBody.isSound(aps) else { throw Refusal(.badRequestPayload) }
        let starts = aps["event"]?.string == "start"
        if let isStart, isStart != starts { throw Refusal(.badRequestPayload) }
        if starts, !isSoundStart(aps) { throw Refusal(.badRequestPayload) }
    }

    private static func isSoundStart(_ aps: JSONValue) -> Bool {
        guard aps["attributes-type"]?.string != nil, aps["attributes"]?.object != nil, aps["alert"]?.object != nil
        else { return false }
        switch (aps["input-push-channel"]?.kind, aps["input-push-token"]) {
        case (nil, nil): return true
        case (.string(let id)?, nil): return !id.isEmpty
        case (nil, let token?): return token.integer == 1
        default: return false
        }
    }
}
