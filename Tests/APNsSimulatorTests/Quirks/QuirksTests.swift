internal import APNsWire
internal import Foundation
internal import Testing

@testable internal import APNsSimulator

struct QuirksTests {
    @Test func `every quirk has a unique name, a source, a default and another value`() throws {
        #expect(Set(Quirks.table.map(\.name)).count == Quirks.table.count)
        for quirk in Quirks.table {
            #expect(!quirk.source.isEmpty && !quirk.summary.isEmpty)
            #expect(quirk.values.count >= 2)
            #expect(Quirks()[quirk.name] == quirk.standard)
            for value in quirk.values {
                var quirks = Quirks()
                try quirks.set(["\(quirk.name)=\(value)"])
                #expect(quirks[quirk.name] == value)
                #expect((quirks == Quirks()) == (value == quirk.standard))
            }
        }
    }

    @Test(.enabled(if: Manual.text != nil, "needs docs/simulator.md"))
    func `the simulator's manual names every quirk and value`() throws {
        let text = try #require(Manual.text)
        for quirk in Quirks.table {
            #expect(text.contains("| `\(quirk.name)` |"))
            for value in quirk.values { #expect(text.contains("`\(value)`"), "\(quirk.name)=\(value)") }
        }
    }

    @Test(arguments: ["capitals", "capitals=maybe", "weather=fine", "=x"])
    func `an unknown name or value is refused`(text: String) {
        var quirks = Quirks()
        #expect(throws: SimulatorError.self) { try quirks.set([text]) }
    }

    /// A quirk, a request, and the status of the answer without the quirk (`before`) and with it (`after`).
    struct Case: Sendable, CustomTestStringConvertible {
        var quirk: String
        var before: Int
        var after: Int
        var reason: String?
        var send: @Sendable (inout Bench) throws -> SimulatorAnswer
        var testDescription: String { quirk }
    }

    @Test(arguments: cases)
    func `each quirk changes the answer as described`(row: Case) throws {
        for isTurned in [false, true] {
            var bench = try Bench()
            try bench.addChannels()
            if isTurned { try bench.state.quirks.set([row.quirk]) }
            let answer = try row.send(&bench)
            #expect(answer.status == (isTurned ? row.after : row.before))
            guard isTurned, let reason = row.reason else { continue }
            #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"\#(reason)"}"#)
        }
    }

    private static let channels = "/1/apps/\(Bench.bundleID)/channels"

    static let cases: [Case] = [
        Case(quirk: "capitals=accepted", before: 403, after: 200) { (bench: inout Bench) in
            try bench.send("GET", "/1/apps/com.example.Scores/all-channels")
        },
        Case(quirk: "capability-off=FeatureNotEnabled", before: 400, after: 400, reason: "FeatureNotEnabled") {
            (bench: inout Bench) in
            bench.state.setBroadcastCapability(false, of: Bench.bundleID)
            return try bench.send("GET", "/1/apps/\(Bench.bundleID)/all-channels")
        },
        Case(quirk: "unknown-deletion=ChannelNotRegistered", before: 404, after: 400, reason: "ChannelNotRegistered") {
            (bench: inout Bench) in
            try bench.send("DELETE", channels, ["apns-channel-id": bench.deleted])
        },
        Case(quirk: "unknown-channel=ChannelNotRegistered", before: 400, after: 400, reason: "ChannelNotRegistered") {
            (bench: inout Bench) in
            try bench.send("GET", channels, ["apns-channel-id": "AAAA"])
        },
        Case(quirk: "missing-policy=BadRequestParams", before: 400, after: 400, reason: "BadRequestParams") {
            (bench: inout Bench) in
            try bench.send("POST", channels, [:], #"{"push-type":"LiveActivity"}"#)
        },
        Case(quirk: "missing-expiration=accepted", before: 400, after: 200) { (bench: inout Bench) in
            try bench.broadcast(on: bench.none, ["apns-expiration": ""])
        },
        Case(quirk: "expiration-policy-0=nonzero", before: 200, after: 400, reason: "BadExpirationDate") {
            (bench: inout Bench) in
            try bench.broadcast(on: bench.none)
        },
        Case(quirk: "expiration-policy-0=any", before: 400, after: 200) { (bench: inout Bench) in
            try bench.broadcast(on: bench.none, ["apns-expiration": "1780003600"])
        },
        Case(quirk: "past-expiration=BadExpirationDate", before: 200, after: 400, reason: "BadExpirationDate") {
            (bench: inout Bench) in
            try bench.broadcast(on: bench.stored, ["apns-expiration": "1779999999"])
        },
        Case(quirk: "request-id-capitals=accepted", before: 400, after: 200) { (bench: inout Bench) in
            try bench.broadcast(on: bench.none, ["apns-request-id": "0F8B1A2C-3D4E-5F60-7182-93A4B5C6D7E8"])
        },
        Case(quirk: "payload=lenient", before: 400, after: 200) { (bench: inout Bench) in
            try bench.broadcast(on: bench.none, [:], #"{"aps":{"event":"update"}}"#)
        },
        Case(quirk: "unknown-device=accepted", before: 400, after: 200) { (bench: inout Bench) in
            try bench.push(to: "abcd", #"{"aps":{"timestamp":1,"event":"end"}}"#)
        },
    ]

    @Test func `in production a broadcast has a unique ID unless a quirk removes it`() throws {
        var bench = try Bench()
        let id = try bench.create(policy: 0, in: .production)
        try bench.state.quirks.set("unique-id-production", to: "off")
        #expect(try bench.broadcast(on: id, in: .production)[header: "apns-unique-id"] == nil)
    }
}

/// The text of docs/simulator.md.
enum Manual {
    static let text = try? String(
        contentsOf: URL(filePath: #filePath).appending(path: "../../../../docs/simulator.md").standardized,
        encoding: .utf8)
}
