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

    /// Reads the fields, leaving faults with `fields`; the value means nothing when there are any.
    static func read(_ fields: inout JSONFields) -> BroadcastRequest {
        let event = fields.choice("event", BroadcastPayload.Event.self, required: true) ?? .update
        let payload = BroadcastPayload(
            event: event, contentState: fields.object("contentState", required: event == .update),
            alert: alert(&fields), staleDate: fields.epoch("staleDate"),
            dismissalDate: fields.epoch("dismissalDate"), relevanceScore: fields.number("relevanceScore"))
        if event == .update, payload.dismissalDate != nil {
            fields.fault("dismissalDate", "dismissalDate goes with an end only.")
        }
        let request = BroadcastRequest(
            payload: payload, priority: priority(&fields),
            expiresIn: fields.integer("expiresIn", in: 1...APNsLimits.storedMessageLifetime),
            apnsExpiration: fields.integer("apnsExpiration", in: 0...Int(Int32.max) * 2),
            sendAt: fields.date("sendAt"), audiences: audiences(&fields))
        if request.expiresIn != nil, request.apnsExpiration != nil {
            fields.fault("apnsExpiration", "apnsExpiration and expiresIn exclude each other; send one of them.")
        }
        return request
    }

    private static func priority(_ fields: inout JSONFields) -> APNsPriority? {
        guard let value = fields.value("priority") else { return nil }
        guard case .number(let text) = value.kind, let priority = Int(text).flatMap(APNsPriority.init) else {
            fields.fault("priority", "1, 5 or 10 was expected.")
            return nil
        }
        return priority
    }

    /// `title` and `body` are strings or localised; `sound` is a file's name. Nothing else is Apple's. With neither text
    /// there is nothing to show, and such a message would still go before others as one that alerts.
    private static func alert(_ fields: inout JSONFields) -> [UInt8]? {
        guard let value = fields.value("alert") else { return nil }
        var alert = JSONFields(value, pointer: fields.pointer(to: "alert"))
        let texts = [text("title", &alert), text("body", &alert)]
        _ = alert.text("sound")
        if case .object = value.kind, !texts.contains(true) {
            fields.fault("alert", "An alert has a title or a body. Leave alert out for an update that does not alert.")
        }
        fields.absorb(alert)
        return value.bytes
    }

    /// - Returns: whether there is something to show, or a fault that says so.
    private static func text(_ name: String, _ alert: inout JSONFields) -> Bool {
        guard let value = alert.value(name) else { return false }
        switch value.kind {
        case .string(let text): return !text.isEmpty
        case .object:
            var localized = JSONFields(value, pointer: alert.pointer(to: name))
            _ = localized.text("loc-key", required: true, maximum: 1_000)
            for (argument, _) in localized.array("loc-args", count: 0...64) ?? [] {
                guard case .string = argument.kind else {
                    localized.fault("loc-args", "Strings were expected.")
                    break
                }
            }
            alert.absorb(localized)
        default:
            alert.fault(name, "A string or an object with loc-key and loc-args was expected.")
        }
        return true
    }

    private static func audiences(_ fields: inout JSONFields) -> [Audience.ID]? {
        guard let elements = fields.array("audiences", count: 1...1_000) else { return nil }
        var ids: [Audience.ID] = []
        for (value, pointer) in elements {
            var nested = JSONFields(value, pointer: pointer)
            let bundleID = nested.bundleID("bundleId")
            let environment = nested.choice("environment", APNsEnvironment.self, required: true)
            if let bundleID, let environment {
                ids.append(Audience.ID(bundleID: bundleID, environment: environment))
            }
            fields.absorb(nested)
        }
        return ids
    }
}

extension JSONFields {
    /// An RFC 3339 time as Apple's payload has it: whole seconds since 1970.
    fileprivate mutating func epoch(_ name: String) -> Int? {
        date(name).map { Int($0.timeIntervalSince1970.rounded(.down)) }
    }
}
