internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

extension BroadcastRequest {
    /// Reads the body of `POST /v1/events/{key}/broadcasts`; `contentState` and `alert` are kept as they were written.
    init(body: JSONValue) throws(Problem) {
        var fields = JSONFields(body)
        self = Self.read(&fields)
        try fields.finish()
    }

    /// What a channel takes: Apple starts no activity by a broadcast.
    private enum Event: String, CaseIterable {
        case update
        case end
    }

    /// Reads the fields, leaving faults with `fields`; the value means nothing when there are any.
    static func read(_ fields: inout JSONFields) -> BroadcastRequest {
        let event = fields.choice("event", Event.self, required: true)
        var request = message(event == .end ? .end : .update, &fields)
        request.audiences = fields.selectors("audiences")
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
        let request = BroadcastRequest(
            payload: payload, priority: fields.priority("priority"),
            expiresIn: fields.integer("expiresIn", in: 1...APNsLimits.storedMessageLifetime),
            apnsExpiration: fields.integer("apnsExpiration", in: 0...Int(Int32.max) * 2),
            sendAt: fields.date("sendAt"))
        if request.expiresIn != nil, request.apnsExpiration != nil {
            fields.fault("apnsExpiration", "apnsExpiration and expiresIn exclude each other; send one of them.")
        }
        return request
    }
}

extension JSONFields {
    /// An RFC 3339 time as Apple's payload has it: whole seconds since 1970.
    fileprivate mutating func epoch(_ name: String) -> Int? {
        date(name).map { Int($0.timeIntervalSince1970.rounded(.down)) }
    }
}
