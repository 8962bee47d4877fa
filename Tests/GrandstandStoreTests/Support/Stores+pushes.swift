internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

extension TokenAddress {
    /// A token of the sample app.
    static func sample(_ hex: String = "80abcdef", _ bundleID: String = "com.example.Goal") throws -> TokenAddress {
        TokenAddress(app: try .sample(bundleID), token: try #require(DeviceToken(hex: hex)))
    }
}

extension BroadcastRequest {
    /// The same request, with the size limit of a push to a token.
    var asPush: BroadcastRequest {
        var request = self
        request.bodyLimit = APNsLimits.devicePayload
        return request
    }

    /// A push that starts an activity.
    static func start(_ contentState: String = "{}", sendAt: Date? = nil) -> BroadcastRequest {
        var request = update(contentState, alert: #"{"title":"t"}"#, sendAt: sendAt).asPush
        request.payload.event = .start
        request.payload.start = .init(
            attributesType: Array(#""M""#.utf8), attributes: Array(#"{ "a":1}"#.utf8),
            input: .channel(Array(#""abc==""#.utf8)))
        return request
    }
}

extension Stores {
    /// Registers the sample app and accepts pushes to its token, in order.
    func push(_ requests: [BroadcastRequest], to address: TokenAddress? = nil) async throws -> [Broadcast] {
        let address = try address ?? .sample()
        if try await apps.app(address.app.bundleID) == nil {
            _ = try await apps.put(.sample(address.app.bundleID.rawValue, at: now))
        }
        return try await outbox.accept(
            requests.map { BroadcastIntake(.token(address), request: $0.asPush) }, now: now, plan: Self.plan
        ).map { try $0.get() }
    }

    @discardableResult
    func push(_ request: BroadcastRequest, to address: TokenAddress? = nil) async throws -> Broadcast {
        try #require(try await push([request], to: address).first)
    }
}
