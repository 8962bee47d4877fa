internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON

extension BroadcastRequest {
    /// Reads the body of `POST /v1/events/{key}/broadcasts`; `contentState` and `alert` are kept as they were written.
    init(body: JSONValue) throws(Problem) {
        var fields = JSONFields(body)
        self = Self.read(&fields)
        try fields.finish()
    }

    /// What a channel takes: Apple starts no activity by a broadcast.
    enum Event: String, CaseIterable {
        case update
        case end
    }

    /// Reads the fields, leaving faults with `fields`; the value means nothing when there are any.
    static func read(_ fields: inout JSONFields) -> BroadcastRequest {
        let event = fields.choice("event", Event.self, required: true)
        var request = message(event == .end ? .end : .update, &fields)
        request.audiences = fields.selectors("audiences")
        request.byVariant = fields.byVariant()
        return request
    }

    /// Reads what broadcasts and pushes have in common.
    static func message(_ event: BroadcastPayload.Event, _ fields: inout JSONFields) -> BroadcastRequest {
        let payload = BroadcastPayload(
            event: event, contentState: fields.object("contentState", required: event != .end),
            alert: event == .start ? fields.alertOfStart() : fields.alert(), staleDate: fields.epoch("staleDate"),
            dismissalDate: fields.epoch("dismissalDate"), relevanceScore: fields.number("relevanceScore"))
        if event != .end, payload.dismissalDate != nil {
            fields.fault("dismissalDate", "dismissalDate goes with an end only.")
        }
        let sendAt = fields.sendTime()
        var request = BroadcastRequest(
            payload: payload, priority: fields.priority(),
            expiresIn: fields.integer("expiresIn", in: 1...APNsLimits.storedMessageLifetime),
            apnsExpiration: fields.integer("apnsExpiration", in: 0...Int(Int32.max) * 2),
            sendAt: sendAt.at)
        request.sendAfterStart = sendAt.afterStart
        if request.expiresIn != nil, request.apnsExpiration != nil {
            fields.fault("apnsExpiration", "apnsExpiration and expiresIn exclude each other; send one of them.")
        }
        return request
    }
}

extension JSONFields {
    /// `sendAt`: a time, or the seconds from the start of its event, `{"afterStart": -600}`.
    fileprivate mutating func sendTime() -> (at: Date?, afterStart: Int?) {
        guard let value = value("sendAt") else { return (nil, nil) }
        guard case .object = value.kind else { return (date(value, of: "sendAt"), nil) }
        var nested = JSONFields(value, pointer: pointer(to: "sendAt"))
        let most = BroadcastRequest.maximumAfterStart
        let seconds = nested.integer("afterStart", in: -most...most, required: true)
        absorb(nested)
        return (nil, seconds)
    }

    /// An RFC 3339 time as Apple's payload has it: whole seconds since 1970.
    fileprivate mutating func epoch(_ name: String) -> Int? {
        date(name).map { Int($0.timeIntervalSince1970.rounded(.down)) }
    }
}
