internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Testing

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A simulator with a control API, and a client of that API.
struct ControlStage: Sendable {
    struct Answer {
        var status: Int
        /// The members of the body; empty if the body is not a JSON object.
        var json: [String: Any]
    }

    let running: RunningSimulator
    let base: String

    static func with(_ body: (ControlStage) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path, options: { $0.controlPort = 0 }) { running in
            try await body(ControlStage(running: running, base: try #require(running.addresses.controlURL)))
        }
    }

    func call(_ method: String, _ path: String, _ body: String = "") async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: base + path)))
        request.httpMethod = method
        if !body.isEmpty { request.httpBody = Data(body.utf8) }
        request.timeoutInterval = 120
        let (data, response) = try await URLSession.shared.data(for: request)
        let json = data.isEmpty ? nil : try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return Answer(status: (response as? HTTPURLResponse)?.statusCode ?? 0, json: json ?? [:])
    }

    /// The numbers of the journal's entries.
    func entries(_ path: String) async throws -> [Int] {
        (try await call("GET", path).json["entries"] as? [[String: Any]] ?? []).compactMap { $0["number"] as? Int }
    }

    /// The content states on the device's lock screen. A content state with a value that is not an integer is left out.
    func shown(_ device: String) async throws -> [[String: Int]] {
        let screen = try await call("GET", "/devices/\(device)").json["lockScreen"] as? [[String: Any]]
        return (screen ?? []).compactMap { $0["contentState"] as? [String: Int] }
    }

    func client() async throws -> Client { try await running.client() }
}
