internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The body of `POST /v1/apps/{bundleId}/{environment}/pushes`: a token, and a message to it.
struct PushDraft: Sendable, Hashable {
    let token: DeviceToken
    let request: BroadcastRequest

    /// - Throws: `invalid-request`, `unknown-field`. The errors never contain the token.
    init(body: JSONValue) throws(Problem) {
        self = try Contract.PushDraft.read(body) { draft, faults throws(Problem) in try PushDraft(draft, &faults) }
    }

    private init(_ draft: Contract.PushDraft, _ faults: inout RequestFaults) throws(Problem) {
        let event = try BroadcastPayload.Event(draft.event)
        token = try DeviceToken(allowed: draft.token)
        var request = BroadcastRequest(draft, as: event, priority: try APNsPriority(draft.priority), &faults)
        request.sendAt = draft.sendAt
        request.payload.start = Self.start(draft, isWanted: event == .start, &faults)
        request.bodyLimit = APNsLimits.devicePayload
        self.request = request
    }

    /// The fields that only a start has.
    private static func start(
        _ draft: Contract.PushDraft, isWanted: Bool, _ faults: inout RequestFaults
    ) -> BroadcastPayload.Start? {
        let given = [
            ("attributesType", draft.attributesType != nil), ("attributes", draft.attributes != nil),
            ("inputPushChannel", draft.inputPushChannel != nil), ("inputPushToken", draft.inputPushToken != nil),
        ]
        guard isWanted else {
            for (name, isGiven) in given where isGiven {
                faults.add("/\(name)", "\(name) is allowed only for a start.")
            }
            return nil
        }
        for (name, isGiven) in given.prefix(2) where !isGiven { faults.add("/\(name)", "\(name) is required.") }
        let wantsToken = draft.inputPushToken ?? false
        if draft.inputPushChannel != nil, wantsToken {
            faults.add("/inputPushToken", "inputPushChannel and inputPushToken exclude each other; send one of them.")
        }
        guard let type = draft.attributesType, let attributes = draft.attributes else { return nil }
        return BroadcastPayload.Start(
            attributesType: JSONWriter.text(type), attributes: Array(attributes.bytes),
            input: draft.inputPushChannel.map { .channel(JSONWriter.text($0)) } ?? (wantsToken ? .token : nil))
    }
}

extension DeviceToken {
    /// - Throws: `internal-error` for text that the contract should have refused.
    init(allowed text: String) throws(Problem) {
        guard let token = DeviceToken(hex: text) else {
            throw Problem(.internalError, "openapi.yaml allows a token that this server does not.")
        }
        self = token
    }
}
