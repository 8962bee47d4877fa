internal import APNsWire

/// The body of a broadcast (docs/internals/apns.md section 4).
enum BroadcastBody {
    /// Checked in this order:
    ///
    /// 1. empty: `PayloadEmpty`
    /// 2. more than 5,120 bytes: `PayloadTooLarge`
    /// 3. not a JSON object with an object `aps`; no integer `timestamp`; `event` not `update` or `end` (a broadcast
    ///    cannot start an activity); `content-state` absent from an update or not an object; `alert` neither an object
    ///    nor a string; a date or `relevance-score` that is not a number: `BadRequestPayload`
    ///
    /// How far APNs itself looks into a broadcast's `aps` is not documented. The simulator is strict with Apple's keys,
    /// because a device would drop the message in silence, and takes any other: custom keys beside `aps` are allowed,
    /// those within are ignored by devices.
    ///
    /// The quirk `payload` set to `lenient` leaves of 3 that it is a JSON object.
    static func check(_ body: [UInt8], isCut: Bool, rule: Quirks.PayloadRule) throws(Refusal) {
        if body.isEmpty { throw Refusal(.payloadEmpty) }
        if isCut || body.count > APNsLimits.broadcastPayload { throw Refusal(.payloadTooLarge) }
        guard let object = JSONObject(body) else { throw Refusal(.badRequestPayload) }
        if rule == .lenient { return }
        guard let aps = object.aps, aps["event"] != .string("start"), isSound(aps) else {
            throw Refusal(.badRequestPayload)
        }
    }

    /// Whether Apple's keys of an update or an end are as documented; further keys of a start are not checked.
    static func isSound(_ aps: JSONObject) -> Bool {
        guard aps["timestamp"]?.integer != nil else { return false }
        switch aps["content-state"] {
        case .object:
            guard ["start", "update", "end"].contains(where: { aps["event"] == .string($0) }) else { return false }
        case nil: guard aps["event"] == .string("end") else { return false }
        default: return false
        }
        switch aps["alert"] {
        case nil, .object, .string: break
        default: return false
        }
        return ["stale-date", "dismissal-date", "relevance-score"].allSatisfy { name in
            switch aps[name] {
            case nil, .number: true
            default: false
            }
        }
    }
}
