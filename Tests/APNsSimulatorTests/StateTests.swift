internal import APNsWire
internal import Foundation
internal import JSON
internal import Testing

@testable internal import APNsSimulator

struct SimulatorStateTests {
    private static let path = "/1/apps/\(Bench.bundleID)/channels"
    private static let creation = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#

    @Test func `an app has ten thousand channels in each environment, each with its own ID, and a deletion makes room`()
        throws
    {
        var bench = try Bench()
        var ids: Set<String> = []
        for _ in 0..<10_000 { ids.insert(try bench.create(policy: 0)) }
        #expect(ids.count == 10_000)
        #expect(!ids.contains(""))
        #expect(try bench.send("POST", Self.path, [:], Self.creation).reason == .cannotCreateChannelConfig)
        #expect(try bench.send("POST", Self.path, [:], "{}").reason == .missingChannelQueueSize)
        #expect(try bench.create(policy: 0, in: .production) != "")
        #expect(try bench.create(policy: 0, of: "com.example.other") != "")
        let gone = ids.removeFirst()
        #expect(try bench.send("DELETE", Self.path, ["apns-channel-id": gone]).status == 204)
        #expect(try bench.create(policy: 0) != "")
    }

    @Test func `an app belongs to the team that created its first channel in an environment`() throws {
        let other = Provider(keyID: "OTHERKEY01", teamID: "OTHERTEAM1")
        var bench = try Bench()
        bench.state = SimulatorState(keys: [bench.provider.registered(), other.registered()])
        _ = try bench.create(policy: 0)
        let path = "/1/apps/\(Bench.bundleID)/all-channels"
        #expect(try bench.send("GET", path, by: other).reason == .topicMismatch)
        #expect(try bench.send("GET", path, in: .production, by: other).status == 200)
        #expect(try bench.send("GET", "/1/apps/com.example.other/all-channels", by: other).status == 200)
    }

    @Test func `turning off the Broadcast capability deletes an app's channels, and turning it on restores none`()
        throws
    {
        var bench = try Bench.withChannels()
        bench.state.setBroadcastCapability(false, of: "com.example.Scores")
        #expect(try bench.broadcast(on: bench.none).reason == .broadcastFeatureNotEnabled)
        bench.state.setBroadcastCapability(true, of: Bench.bundleID)
        #expect(try bench.broadcast(on: bench.none).reason == .channelNotRegistered)
        #expect(bench.channels().isEmpty)
    }

    @Test func `every answer has the request's ID, or a new one if the request has none or an invalid one`() throws {
        var bench = try Bench()
        let id = "0f8b1a2c-3d4e-5f60-7182-93a4b5c6d7e8"
        #expect(try bench.send("GET", "/", ["apns-request-id": id])[header: "apns-request-id"] == id)
        let new = try ["42", ""].map { try bench.send("GET", "/", ["apns-request-id": $0])[header: "apns-request-id"] }
        #expect(Set(new).count == 2)
        for id in new {
            #expect(id?.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        }
    }

    /// The seconds until a message expires, and whether a message sent with them is stored after some seconds.
    @Test(arguments: [
        (60, 59, true), (60, 60, false), (100_000, 28_799, true), (100_000, 28_800, false), (0, 0, false),
        (-60, 0, false),
    ])
    func `the newest message is stored until its expiration, at most 8 hours`(life: Int, after: Double, isStored: Bool)
        throws
    {
        var bench = try Bench.withChannels()
        let now = Int(Bench.now)
        let expiration = ["apns-expiration": life == 0 ? "0" : "\(now + life)"]
        let end = #"{"aps":{"timestamp":1780000001,"event":"end"}}"#
        _ = try bench.broadcast(on: bench.stored, ["apns-expiration": "\(now + 86_400)"])
        let sent = try bench.broadcast(on: bench.stored, expiration, end)
        let message = bench.channels().first { $0.id == bench.stored }?.snapshot(at: Bench.now + after).stored
        // A message that is not stored leaves the one before it.
        let left = life > 0 ? nil : Bench.update
        #expect(message?.body == (isStored ? end : left))
        #expect((message?.uniqueID == sent[header: "apns-unique-id"]) == isStored)
    }
}

struct QuirksTests {
    @Test func `every quirk can be set to each of its values, and the simulator's manual names them all`() throws {
        let manual = URL(filePath: #filePath).appending(path: "../../../docs/simulator.md").standardized
        let text = try String(contentsOf: manual, encoding: .utf8)
        for quirk in Quirks().table {
            #expect(text.contains("| `\(quirk.name)` |"))
            for value in quirk.values {
                var quirks = Quirks()
                try quirks.set(["\(quirk.name)=\(value)"])
                #expect(quirks.table.first { $0.name == quirk.name }?.value == value)
                #expect((quirks == Quirks()) == (value == quirk.values[0]))
                #expect(text.contains("`\(value)`"), "\(quirk.name)=\(value)")
            }
        }
    }

    @Test(arguments: ["capitals", "capitals=maybe", "weather=fine", "=x"])
    func `an unknown name or value is refused`(text: String) {
        var quirks = Quirks()
        #expect(throws: SimulatorError.self) { try quirks.set([text]) }
    }
}

struct JournalTests {
    @Test func `a journal keeps the newest entries, within its capacity and 32 MB, and goes on counting`() {
        for (capacity, body, kept) in [(3, 10, 3), (0, 10, 0), (100, 8 << 20, 3)] {
            var journal = Journal(capacity: capacity)
            for _ in 1...5 { journal.record(Self.entry(Array(repeating: 0x20, count: body))) }
            #expect(journal.entries.map(\.number) == Array((6 - kept)..<6))
            #expect(journal.entries(after: 4).map(\.number) == (kept > 0 ? [5] : []))
            journal.removeAll()
            #expect(journal.entries(after: 0).isEmpty)
            journal.record(Self.entry([]))
            #expect(journal.lastNumber == 6)
        }
    }

    @Test func `an entry is written with nulls for what it does not have`() {
        let text = String(decoding: JSONWriter.text(Self.entry([0x7B, 0x7D])), as: UTF8.self)
        #expect(
            text
                == #"{"number":0,"time":1780000000,"environment":"production","host":"send","connection":3,"method":"POST","path":"/x","operation":null,"headers":[{"name":"a","value":"1"},{"name":"a","value":""}],"body":"{}","bodyIsCut":false,"status":404,"reason":"BadPath","requestId":"id","fate":"answered","fault":null}"#
        )
    }

    private static func entry(_ body: [UInt8]) -> JournalEntry {
        JournalEntry(
            time: Bench.now,
            request: SimulatorRequest(
                environment: .production, service: .send, connectionID: 3, method: "POST", path: "/x",
                headers: [.init("a", "1"), .init("a", "")], body: body),
            operation: nil, status: 404, reason: .badPath, requestID: "id", fate: .answered, fault: nil)
    }
}

/// The state of a connection at APNs.
struct ConnectionTests {
    private static let path = "/1/apps/\(Bench.bundleID)/all-channels"

    @Test func `a connection has one stream, many after a valid token, and one again after refusals, before it ends`()
        throws
    {
        var bench = try Bench()
        bench.open()
        #expect(try bench.broadcast(on: "AAAA").newStreamLimit == 1_000)
        bench.open()
        let bad = ["authorization": ""]
        #expect(try bench.send("GET", Self.path, bad).newStreamLimit == nil)
        #expect(try bench.send("GET", Self.path).newStreamLimit == 1_000)
        #expect(try bench.send("GET", Self.path).newStreamLimit == nil)

        var refused = try (1...ConnectionState.refusalsToSlow).map { _ in try bench.broadcast(on: "AAAA") }
        #expect(refused.last?.newStreamLimit == 1)
        #expect(refused.dropLast().allSatisfy { $0.newStreamLimit == nil })
        #expect(try bench.send("GET", Self.path).newStreamLimit == 1_000)

        refused = try (1...ConnectionState.refusalsToEnd + 1).map { _ in try bench.broadcast(on: "AAAA") }
        #expect(refused.firstIndex { $0.endsConnection } == ConnectionState.refusalsToEnd - 1)
        #expect(refused.count { $0.endsConnection } == 1)
        #expect(refused.count { $0.newStreamLimit != nil } == 1)
    }

    @Test func `a connection belongs to the team and scope of its first key`() throws {
        var bench = try Bench()
        let colleague = Provider(keyID: "COLLEAGUE1", teamID: bench.provider.teamID)
        let rival = Provider(keyID: "RIVALSKEY1", teamID: "RIVALTEAM1")
        let narrow = Provider(keyID: "NARROWKEY1", teamID: bench.provider.teamID)
        var narrowKey = narrow.registered()
        narrowKey.scope = try KeyScope(parsing: "development:com.example.scores")
        bench.state = SimulatorState(
            keys: [
                bench.provider.registered(), colleague.registered(), rival.registered(), narrowKey,
            ])
        bench.open()
        let other = "/1/apps/com.example.other/all-channels"
        #expect(try bench.send("GET", other).status == 200)
        #expect(try bench.send("GET", other, by: colleague).status == 200)
        #expect(try bench.send("GET", other, by: rival).reason == .unrelatedKeyIdInToken)
        #expect(try bench.send("GET", Self.path, by: narrow).reason == .unrelatedKeyIdInToken)
        bench.open()
        #expect(try bench.send("GET", other, by: rival).status == 200)
        #expect(try bench.send("GET", other).reason == .unrelatedKeyIdInToken)
        bench.state.closed(connection: bench.connection)
        #expect(try bench.send("GET", other).status == 200)
    }

    @Test func `a key is valid only for its environment and its topics`() throws {
        var bench = try Bench()
        var key = bench.provider.registered()
        key.scope = try KeyScope(parsing: "development:com.example.Scores,com.example.other")
        bench.state = SimulatorState(keys: [key])
        #expect(try bench.send("GET", Self.path).status == 200)
        #expect(try bench.send("GET", "/1/apps/com.example.third/all-channels").reason == .topicMismatch)
        #expect(try bench.send("GET", Self.path, in: .production).reason == .badEnvironmentKeyInToken)
    }

    @Test func `a token that replaces another on its connection too soon gets 429`() throws {
        var bench = try Bench()
        bench.open()
        #expect(try bench.send("GET", Self.path).status == 200)
        let later = Bench.now + 600
        #expect(try bench.send("GET", Self.path, at: later).reason == .tooManyProviderTokenUpdates)
        let old = ["authorization": "bearer \(try bench.provider.token(at: Bench.now))"]
        #expect(try bench.send("GET", Self.path, old, at: later).status == 200)
        bench.open()
        #expect(try bench.send("GET", Self.path, at: later).status == 200)
        #expect(try bench.send("GET", Self.path, at: Bench.now + 1_800).status == 200)
    }
}

extension Bench {
    /// From here on, requests use a new connection.
    mutating func open() {
        connection += 1
        state.opened(connection: connection)
    }
}

/// Tokens beyond those of docs/internals/conformance.json.
struct TokenJudgeTests {
    @Test(
        arguments: [(0, nil), (-3_600, nil), (-3_601, .expiredProviderToken), (60, nil), (61, .invalidProviderToken)]
            as [(Double, APNsReason?)])
    func `a token is accepted for an hour, also when it is remembered`(issued: Double, reason: APNsReason?) throws {
        let provider = Provider()
        var judge = TokenJudge(keys: [provider.registered()])
        let token = try provider.token(at: Bench.now + issued)
        let said = [Bench.now, Bench.now + 7_200].map { refusal(of: token, by: &judge, at: $0) }
        #expect(said == [reason, .expiredProviderToken])
    }

    private func refusal(of token: String, by judge: inout TokenJudge, at now: Double = Bench.now) -> APNsReason? {
        do throws(Refusal) {
            _ = try judge.judge(authorization: "Bearer \(token)", now: now)
            return nil
        } catch {
            return error.reason
        }
    }
}
