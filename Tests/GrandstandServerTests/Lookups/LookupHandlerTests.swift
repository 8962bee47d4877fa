internal import APNsWire
internal import Foundation
internal import GrandstandContract
internal import GrandstandTestKit
internal import NIOHTTP1
internal import Synchronization
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

/// Which requests are answered in the pipeline, and which are passed to the router.
struct LookupHandlerTests {
    static let path = "/v1/lookup/com.example.Stadium/production/derby"

    @Test func `a lookup in the cache is answered at once and reaches no other handler`() throws {
        let line = try Line()
        let answer = try line.says(Self.get())
        let (head, body) = try #require(answer.parts)
        #expect(head.first == "HTTP/1.1 200 OK")
        #expect(
            body
                == #"{"eventKey":"derby","channelId":"abc=","variants":["de","fr"],"storagePolicy":"noMessageStored","#
                + #""state":"scheduled","startsAt":null,"endsAt":null}"#)
        #expect(head.contains("Content-Type: application/json"))
        #expect(head.contains("Content-Length: \(body.utf8.count)"))
        #expect(head.contains("ETag: \(EntityTag(of: Array(body.utf8)).text)"))
        #expect(head.contains("Cache-Control: public, max-age=10"))
        #expect(head.contains("Date: Tue, 14 Nov 2023 22:13:20 GMT"))
        #expect(head.contains { $0.hasPrefix("X-Request-Id: ") })
        #expect(head.contains("X-Content-Type-Options: nosniff"))
        #expect(head.contains("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'"))
        #expect(!head.contains { $0.hasPrefix("Warning") || $0.hasPrefix("Age") })
        for variant in ["de", "fr"] {
            let (head, body) = try #require(try line.says(Self.get(path: Self.path + "?variant=\(variant)")).parts)
            #expect(body.contains(#""channelId":"\#(variant)=","variant":"\#(variant)","#), "\(body)")
            #expect(head.contains("ETag: \(EntityTag(of: Array(body.utf8)).text)"))
        }
        #expect(line.past == [])
    }

    @Test func `a client with the present tag gets 304 without a body`() throws {
        let line = try Line()
        let (_, body) = try #require(try line.says(Self.get()).parts)
        let tag = EntityTag(of: Array(body.utf8)).text
        let (head, rest) = try #require(try line.says(Self.get(["if-none-match: \"x\", W/\(tag)"])).parts)
        #expect(head.first == "HTTP/1.1 304 Not Modified")
        #expect(head.contains("ETag: \(tag)"))
        #expect(!head.contains { $0.hasPrefix("Content-Length") })
        #expect(rest == "")
    }

    @Test func `an answer that cannot be confirmed has its age`() throws {
        let line = try Line(confirmedBefore: 30)
        let (head, _) = try #require(try line.says(Self.get()).parts)
        #expect(head.contains("Warning: 110 - \"Response is Stale\""))
        #expect(head.contains("Age: 30"))
    }

    static let others = [
        get(path: path + "-2"), get(path: "/v1/lookup/com.example.Stadium/development/derby"),
        get(path: "/v1/lookup/com.example.Stadium/staging/derby"), get(path: path + "?include=contentState"),
        get(path: path + "?"), get(path: path + "/"), get(path: path + "?variant="), get(path: path + "?variant=it"),
        get(path: path + "?variant=d%65"), get(path: path + "?variant=de&include=contentState"),
        get(path: "/v1/lookup/com.example.Stadium/production/derb%79"),
        get(path: "/v1/lookup"), get(path: "/healthz"), get(path: "/v1/lookup/com.example.Other/production/derby"),
        get(secret: "gs_unknown"), get(secret: "gs_organise"), get(secret: "gs_other"), get(secret: nil),
        get(["authorization: Bearer gs_good"]), get(["x-request-id: mine"]), get(["connection: close"]),
        get(["expect: 100-continue"]), get(["content-length: 0"]), get(["if-none-match: a", "if-none-match: b"]),
        get(method: "HEAD"), get(method: "DELETE"), get(version: "1.0"),
    ]

    @Test(arguments: LookupHandlerTests.others)
    func `other requests are passed on unchanged`(_ request: String) throws {
        let line = try Line()
        let answer = try line.says(request)
        #expect(answer == "")
        #expect(line.past.count == 1)
    }

    @Test func `lookups wait in order behind a request in progress`() throws {
        let line = try Line()
        #expect(try line.says(Self.get(path: "/v1/apps") + Self.get()).isEmpty)
        #expect(line.past == ["/v1/apps", Self.path])
        try line.answersPast()
        #expect(try line.says(Self.get()).isEmpty)
        try line.answersPast()
        try line.answersPast()
        let answer = try line.says(Self.get() + Self.get())
        #expect(answer.components(separatedBy: "HTTP/1.1 200 OK").count == 3)
        #expect(line.past.count == 3)
    }

    @Test func `an answer is counted, its key counts as used, and the connection's timer is informed`() throws {
        let line = try Line()
        _ = try line.says(Self.get())
        #expect(Set(line.counted) == ["200", "found"])
        _ = try line.says(Self.get(secret: "gs_unknown"))
        #expect(line.usedKeys == 1 && line.answered == 1)
        let twice = try Line()
        _ = try twice.says(Self.get() + Self.get())
        #expect(twice.answered == 2)
    }

    static func get(
        _ fields: [String] = [], method: String = "GET", path: String = path, secret: String? = "gs_good",
        version: String = "1.1"
    ) -> String {
        let all =
            ["\(method) \(path) HTTP/\(version)", "host: x"] + (secret.map { ["Authorization: bearer \($0)"] } ?? [])
        return (all + fields + ["", ""]).joined(separator: "\r\n")
    }
}

/// A connection with the handler in its place.
private final class Line {
    private let line: ParsedLine
    private let metrics = ServerMetrics()
    private let used = Tally()
    private let keys = heldKeys()

    /// - Parameter confirmedBefore: how many seconds ago the database last confirmed that the lookup cache is up to
    ///   date.
    init(confirmedBefore seconds: Double = 0) throws {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let replica = LookupReplica(store: LookupStore(database: TestDatabase.away.database), now: { now })
        let key = try #require(EventKey(rawValue: "derby"))
        let records = [("abc=", nil), ("de=", "de"), ("fr=", "fr")].map { channelID, variant in
            LookupRecord(
                key: key, apnsTopic: "com.example.stadium", environment: .production, storagePolicy: .noMessageStored,
                channelID: channelID, variant: variant.flatMap { Variant(rawValue: $0) })
        }
        replica.put(key, records)
        replica.state.withLock { $0.confirmedAt = now.addingTimeInterval(-seconds) }
        let lookups = LookupResponder(
            replica: replica, keys: keys, metrics: metrics, headers: CommonHeaders(isSecure: false),
            now: { now })
        line = try ParsedLine(
            LookupHandler(lookups: lookups) { [used] count in for _ in 0..<count { used.add("answered") } })
    }

    /// The paths of the requests that were passed to the router.
    var past: [String] { line.paths }

    /// How many keys were used.
    var usedKeys: Int { keys.lastUses.withLock(\.count) }

    /// What the metrics counted once: the status of answers and the result of lookups.
    var counted: [String] {
        String(decoding: metrics.exposition(), as: UTF8.self)
            .matches(of: /_total\{.*(?:status|result)="([^"]+)"\} 1\n/).map { String($0.1) }
    }
    /// How many answers the handler reported for the connection's guard.
    var answered: Int { used["answered"] }

    func says(_ text: String) throws -> String { try line.says(text) }

    func answersPast() throws { _ = try line.answers(.noContent, [:]) }
}

extension String {
    /// The lines of an answer's head, and its body.
    fileprivate var parts: (head: [String], body: String)? {
        let halves = components(separatedBy: "\r\n\r\n")
        guard halves.count == 2 else { return nil }
        return (halves[0].components(separatedBy: "\r\n"), halves[1])
    }
}

/// Three keys by their secrets. They have the same ID, so they count as one key.
private func heldKeys() -> KeyStore {
    let id = UUID()
    func key(_ scope: Contract.Scope, _ bundleID: String = "com.example.Stadium") -> APIKey {
        APIKey(
            id: id, name: "k", scopes: [scope], reach: AppReach(of: BundleID(rawValue: bundleID).map { [$0] }))
    }
    return .holding(
        ["gs_good": key(.lookup), "gs_organise": key(.organise), "gs_other": key(.lookup, "com.example.other")],
        now: { Date(timeIntervalSince1970: 1_700_000_000) })
}
