internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import APNsSimulator

/// Runs docs/internals/conformance.json against the simulator's state. scripts/simulator-conformance runs the same table
/// with other clients, over HTTP/2 and TLS.
struct PublishedTableTests {
    @Test func `the simulator answers every case of the published conformance table as the table says`() throws {
        let cases = try Self.cases()
        #expect(cases.count > 100)
        for row in cases {
            let name: Comment = "\(row.operation): \(row.case)"
            var bench = try Bench.withChannels()
            let values = try Self.values(&bench)
            let answer = bench.state.handle(try Self.request(row, bench, values), now: Bench.now)
            let body = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == row.status, name)
            #expect(row.answerBody.map { Self.fill($0, values) } ?? body == body, name)
            #expect(body.hasPrefix(row.reason.map { #"{"reason":"\#($0)""# } ?? ""), name)
            #expect(row.answerHeaders.allSatisfy { answer[header: $0] != nil }, name)
        }
    }

    fileprivate static func cases() throws -> [Table.Case] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let file = try Data(contentsOf: root.appending(path: "docs/internals/conformance.json"))
        return try JSONDecoder().decode(Table.self, from: file).cases
    }

    fileprivate static func request(
        _ row: Table.Case, _ bench: Bench, _ values: [String: String]
    ) throws -> SimulatorRequest {
        func fill(_ text: String) -> String { Self.fill(text, values) }
        return bench.request(
            row.method, fill(row.path), (row.headers ?? [:]).mapValues(fill), fill(row.body ?? ""),
            token: try bench.provider.token(at: Bench.now))
    }

    fileprivate struct Table: Decodable {
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

    /// Adds phones and an activity to the bench, and returns the values of the table's placeholders.
    fileprivate static func values(_ bench: inout Bench) throws -> [String: String] {
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
        _ = bench.state.devices.revoke(values["goneDevice"] ?? "", Refusal(.unregistered, timestamp: now * 1_000))
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

/// Mutated requests of the table: every answer is one that APNs can give, and the next valid request is accepted. The
/// requests are the same each time. GRANDSTAND_FUZZ_SEED chooses other requests, and GRANDSTAND_FUZZ_COUNT sets the
/// number of requests.
@Suite(.timeLimit(.minutes(20)))
struct FuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["GRANDSTAND_FUZZ_SEED"].flatMap(UInt64.init) ?? 20_261_121
    private static let count = environment["GRANDSTAND_FUZZ_COUNT"].flatMap(Int.init) ?? 20_000

    @Test func `mutated requests of every kind get a valid answer`() throws {
        var random = SeededRandom(seed: Self.seed)
        var bench = try Bench.withChannels()
        let values = try PublishedTableTests.values(&bench)
        let table = try PublishedTableTests.cases().map { try PublishedTableTests.request($0, bench, values) }
        var statuses: Set<Int> = []
        for number in 0..<Self.count {
            guard var request = table.randomElement(using: &random) else { return }
            for _ in 0...Int.random(in: 0..<3, using: &random) { Self.mutilate(&request, &random) }
            let answer = bench.state.handle(request, now: Bench.now)
            statuses.insert(answer.status)
            let isKnown = answer.reason.map { $0.status == answer.status } ?? (200...204).contains(answer.status)
            #expect(isKnown, "seed \(Self.seed), request \(number): \(request) was answered \(answer)")
            #expect(answer.body.count < 400_000)
        }
        #expect(statuses.isSuperset(of: [200, 400, 403, 404, 405]))
        // Mutated requests may have created many channels, but must not have damaged the app.
        #expect(try bench.create(policy: 0, of: "com.example.other").isEmpty == false)
    }

    private static let words = [
        "{", "}", "[", "\"", ",", ":", "null", "1e999", "\\ud800", "-", "9223372036854775808",
    ].map { Array($0.utf8) }

    private static func mutilate(_ request: inout SimulatorRequest, _ random: inout SeededRandom) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            request.method =
                ["GET", "POST", "DELETE", "PUT", "", "get", "\u{0}"].randomElement(using: &random) ?? ""
        case 1:
            var bytes = Array(request.path.utf8)
            bytes.damage(with: words, using: &random)
            request.path = String(decoding: bytes, as: UTF8.self)
        case 2 where !request.headers.isEmpty:
            request.headers.remove(at: Int.random(in: request.headers.indices, using: &random))
        case 3 where !request.headers.isEmpty:
            let index = Int.random(in: request.headers.indices, using: &random)
            var bytes = Array(request.headers[index].value.utf8)
            bytes.damage(with: words, using: &random)
            request.headers[index].value = String(decoding: bytes, as: UTF8.self)
        case 4 where !request.headers.isEmpty:
            if let header = request.headers.randomElement(using: &random) { request.headers.append(header) }
        default: request.body.damage(with: words, using: &random)
        }
    }
}
