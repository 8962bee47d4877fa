internal import APNsWire
internal import Grandstand
internal import JSON

/// The body of `POST /v1/apps/{bundleId}/{environment}/pushes`: a token, and a message to it.
struct PushDraft: Sendable, Hashable {
    let token: DeviceToken
    let request: BroadcastRequest

    /// - Throws: `invalid-request`, `unknown-field`. A refusal names no token.
    init(body: JSONValue) throws(Problem) {
        var fields = JSONFields(body)
        let token = Self.token(&fields)
        let event = fields.choice("event", BroadcastPayload.Event.self, required: true)
        var request = BroadcastRequest.message(event ?? .update, &fields)
        request.payload.start = Self.start(&fields, isWanted: event == .start)
        request.bodyLimit = APNsLimits.devicePayload
        try fields.finish()
        guard let token else { throw Problem(.internalError, "A body without a token was not refused.") }
        self.token = token
        self.request = request
    }

    private static func token(_ fields: inout JSONFields) -> DeviceToken? {
        guard let value = fields.value("token", required: true) else { return nil }
        let token = value.string.flatMap(DeviceToken.init(hex:))
        if token == nil { fields.fault("token", DeviceToken.rule) }
        return token
    }

    /// What only a start has.
    private static func start(_ fields: inout JSONFields, isWanted: Bool) -> BroadcastPayload.Start? {
        guard isWanted else {
            for name in ["attributesType", "attributes", "inputPushChannel", "inputPushToken"]
            where fields.value(name) != nil {
                fields.fault(name, "\(name) goes with a start only.")
            }
            return nil
        }
        let type = fields.text("attributesType", required: true, maximum: 128)
        let attributes = fields.object("attributes", required: true)
        let channel = fields.text("inputPushChannel", maximum: 1_024)
        let wantsToken = wantsToken(&fields)
        if channel != nil, wantsToken {
            fields.fault("inputPushToken", "inputPushChannel and inputPushToken exclude each other; send one of them.")
        }
        guard let type, let attributes else { return nil }
        return BroadcastPayload.Start(
            attributesType: Array(JSONText.quoted(type).utf8), attributes: attributes,
            input: channel.map { .channel(Array(JSONText.quoted($0).utf8)) } ?? (wantsToken ? .token : nil))
    }

    /// Apple's own spelling, 1, is taken as well.
    private static func wantsToken(_ fields: inout JSONFields) -> Bool {
        guard let value = fields.value("inputPushToken") else { return false }
        switch value.kind {
        case .bool(let flag): return flag
        case .number("1"): return true
        default:
            fields.fault("inputPushToken", "true or false was expected, not \(value.kindName).")
            return false
        }
    }
}
