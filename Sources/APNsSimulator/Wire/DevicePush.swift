internal import APNsWire
internal import JSON

/// A device push (docs/internals/apns.md 3.1, 3.2 and section 4).
enum DevicePush {
    /// Checks the headers, except topic and ID.
    ///
    /// - Returns: `apns-expiration`; `nil` if it is absent.
    /// - Throws: `BadExpirationDate`, `BadPriority`, `BadCollapseId`, in this order.
    static func expiration(_ request: SimulatorRequest) throws(Refusal) -> Int? {
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
