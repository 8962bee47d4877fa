internal import APNsWire
internal import Testing

/// One row of the conformance table: a request and APNs' answer.
///
/// In paths and headers, `{none}`, `{stored}` and `{deleted}` stand for channel IDs of the bench. All other headers are
/// those of a correct client. An empty value removes a header.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    var name: String
    var method: String
    var path: String
    var headers: [String: String] = [:]
    var body = ""
    var status: Int
    var reason: APNsReason?

    var testDescription: String { name }

    static func create(_ name: String, _ body: String, _ status: Int, _ reason: APNsReason? = nil) -> Self {
        Self(
            name: "create: \(name)", method: "POST", path: "/1/apps/com.example.scores/channels", body: body,
            status: status, reason: reason)
    }

    static func channel(
        _ method: String, _ name: String, _ headers: [String: String], _ status: Int, _ reason: APNsReason? = nil
    ) -> Self {
        Self(
            name: "\(method): \(name)", method: method, path: "/1/apps/com.example.scores/channels", headers: headers,
            status: status, reason: reason)
    }

    static func broadcast(
        _ name: String, with headers: [String: String] = [:], body: String = Bench.update, _ status: Int,
        _ reason: APNsReason? = nil
    ) -> Self {
        let usual = [
            "apns-channel-id": "{stored}", "apns-push-type": "liveactivity", "apns-expiration": "0",
            "apns-priority": "5",
        ]
        return Self(
            name: "broadcast: \(name)", method: "POST", path: "/4/broadcasts/apps/com.example.scores",
            headers: usual.merging(headers) { $1 }, body: body, status: status, reason: reason)
    }

    static func any(
        _ name: String, _ method: String, _ path: String, with headers: [String: String] = [:], _ status: Int,
        _ reason: APNsReason? = nil
    ) -> Self {
        Self(name: name, method: method, path: path, headers: headers, status: status, reason: reason)
    }
}
