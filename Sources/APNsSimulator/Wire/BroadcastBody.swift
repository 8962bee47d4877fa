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
