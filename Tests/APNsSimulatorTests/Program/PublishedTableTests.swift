internal import APNsWire
internal import Foundation
internal import Testing

@testable internal import APNsSimulator

/// Runs docs/internals/conformance.json against the simulator's state. scripts/simulator-conformance runs the same table
/// with other clients, over HTTP/2 and TLS.
struct PublishedTableTests {
    @Test func `the simulator answers every case of the published conformance table as the table says`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let file = try Data(contentsOf: root.appending(path: "docs/internals/conformance.json"))
        let cases = try JSONDecoder().decode(Table.self, from: file).cases
        #expect(cases.count > 100)
        for row in cases {
            let name: Comment = "\(row.operation): \(row.case)"
            var bench = try Bench()
            let values = try Self.values(&bench)
            func fill(_ text: String) -> String { Self.fill(text, values) }
            let answer = try bench.send(
                row.method, fill(row.path), (row.headers ?? [:]).mapValues(fill), fill(row.body ?? ""))
            let body = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == row.status, name)
            #expect(row.answerBody.map(fill) ?? body == body, name)
            #expect(body.hasPrefix(row.reason.map { #"{"reason":"\#($0)""# } ?? ""), name)
            #expect(row.answerHeaders.allSatisfy { answer[header: $0] != nil }, name)
        }
    }

    private struct Table: Decodable {
        struct Case: Decodable {
            let operation: String
            let `case`: String
            let method: String
            let path: String
            let headers: [String: String]?
            let body: String?
            let status: Int
            let reason: String?
            let answerHeaders: [String]
            let answerBody: String?
        }

        let cases: [Case]
    }

    /// Adds channels, phones and an activity to the bench, and returns the values of the table's placeholders.
    private static func values(_ bench: inout Bench) throws -> [String: String] {
        try bench.addChannels()
        let provider = bench.provider
        let stranger = Provider(keyID: provider.keyID, teamID: provider.teamID)
        func token(_ algorithm: String, iat: String) throws -> String {
            try provider.token(
                header: #"{"alg":"\#(algorithm)","kid":"\#(provider.keyID)"}"#,
                claims: #"{"iss":"\#(provider.teamID)","iat":\#(iat)}"#)
        }
        let now = Int(Bench.now)
        var values: [String: String] = [
            "app": Bench.bundleID, "App": "com.example.Scores", "long": String(repeating: "AAAA", count: 65),
            "none": bench.none, "stored": bench.stored, "deleted": bench.deleted,
            "expired": try provider.token(at: Bench.now - 3_700), "future": try provider.token(at: Bench.now + 86_400),
            "forged": try stranger.token(at: Bench.now), "algNone": try token("none", iat: "\(now)"),
            "unknownKey": try Provider(keyID: "NOBODYSKEY", teamID: provider.teamID).token(at: Bench.now),
            "stringIat": try token("ES256", iat: "\"\(now)\""),
        ]
        let phones: [(String, APNsEnvironment)] = [
            ("device", .development), ("otherDevice", .production), ("goneDevice", .development),
        ]
        for (id, environment) in phones {
            let phone = try bench.state.addDevice(
                id, in: environment, system: 18, bundleIDs: [Bench.bundleID], now: Bench.now)
            values[id] = phone.startTokens[Bench.bundleID]
        }
        _ = bench.state.devices.retire(values["goneDevice"] ?? "", Refusal(.unregistered, timestamp: now * 1_000))
        let activity = Activity(bundleID: Bench.bundleID, attributesType: "Match")
        values["activity"] = try bench.state.startActivity(
            activity, wantsToken: true, on: "device", now: Bench.now
        ).updateToken
        return values
    }

    private static func fill(_ text: String, _ values: [String: String]) -> String {
        text.replacing(#/\{([A-Za-z]+)(?:[+:](\d+))?\}/#) { match in
            let (name, number) = (String(match.1), match.2.flatMap { Int($0) } ?? 0)
            let now = Int(Bench.now)
            switch name {
            case "now": return String(now + number)
            case "padded":
                let frame = #"{"aps":{"timestamp":\#(now),"event":"update","content-state":{"x":""}}}"#
                let padding = String(repeating: "x", count: max(0, number - frame.utf8.count))
                return frame.replacing(#""x":"""#, with: #""x":"\#(padding)""#)
            default: return values[name] ?? String(match.0)
            }
        }
    }
}
