internal import APNsWire

/// The body of a broadcast (apns-contract section 4).
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
    static func check(_ body: [UInt8], isCut: Bool) throws(Refusal) {
        if body.isEmpty { throw Refusal(.payloadEmpty) }
        if isCut || body.count > APNsLimits.broadcastPayload { throw Refusal(.payloadTooLarge) }
        guard let aps = JSONObject(body)?.object("aps"), aps["timestamp"]?.integer != nil, isSound(aps) else {
            throw Refusal(.badRequestPayload)
        }
    }

    private static func isSound(_ aps: [String: JSONObject.Value]) -> Bool {
        switch aps["content-state"] {
        case .object: guard aps["event"] == .string("update") || aps["event"] == .string("end") else { return false }
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
