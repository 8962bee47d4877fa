internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandTestKit
internal import Synchronization
internal import Testing

/// What the cache and entity tags save, counted in requests to the server. `GRANDSTAND_PHONES=1000` gives the numbers
/// in docs/internals/benchmarks.md.
@Suite(.timeLimit(.minutes(20)))
struct ThousandPhonesTests {
    private static let phones = ProcessInfo.processInfo.environment["GRANDSTAND_PHONES"].flatMap { Int($0) } ?? 20
    private static let app = GrandstandClient.AppEnvironment(Stage.bundleID, .production)

    /// When the app is opened, in seconds after the first time: at kick-off, twice around a goal, at half-time, at the
    /// end.
    private static let openings: [Double] = [0, 900, 905, 2_800, 6_300]

    @Test func `phones with a cache make half the requests, and most of those are answered without a body`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp()
            try await stage.putStartingEvent()
            let key = try #require(try await stage.appsKey().secret)
            let server = try #require(URL(string: stage.url))
            let folder = try TemporaryFolder()
            let (without, with) = (Counted(), Counted())
            for (transport, isCached) in [(without, false), (with, true)] {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<Self.phones {
                        let cache = AnswerCache(
                            folder: URL(fileURLWithPath: folder.path).appendingPathComponent("\(number)"))
                        if number >= 16 { try await group.next() }
                        group.addTask {
                            try await Self.day(server, key, transport, isCached ? cache : nil)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let (plain, cached) = (without.totals, with.totals)
            print("phones \(Self.phones), calls \(Self.phones * Self.openings.count * 4)")
            print("without a cache: \(plain.requests) requests, \(plain.bytes) bytes")
            print("with one: \(cached.requests) requests, \(cached.unchanged) times 304, \(cached.bytes) bytes")
            #expect(plain.requests == Self.phones * Self.openings.count * 4)
            #expect(cached.requests * 2 <= plain.requests)
            #expect(cached.unchanged * 4 >= cached.requests * 3)
        }
    }

    /// A match day of one phone. At each opening, people open the list, one match and the list again, and start an
    /// activity for the match.
    private static func day(
        _ server: URL, _ key: String, _ transport: Counted, _ cache: AnswerCache?
    ) async throws {
        let clock = ManualClock(Date())
        let client = GrandstandClient(
            server: server, key: key, transport: transport, retry: .never, cache: cache,
            time: ClientTime(now: { clock.now }, uptime: { .zero }, sleep: { _ in }, chance: { 0 }))
        let begin = clock.now
        for opening in openings {
            clock.advance(by: begin.addingTimeInterval(opening).timeIntervalSince(clock.now))
            _ = try await client.followables(in: app, topic: "team:rapid")
            clock.advance(by: 1)
            let seen = try await client.lookup("derby", in: app, contentState: true)
            clock.advance(by: 1)
            _ = try await client.followables(in: app, topic: "team:rapid")
            clock.advance(by: 1)
            let shown = try await client.lookup("derby", in: app, contentState: true)
            #expect(seen.channelId == shown.channelId && shown.channelId != nil)
        }
    }
}

/// A transport that counts the requests, the answers with status 304, and the bytes of the bodies.
private final class Counted: ClientTransport {
    struct Totals {
        var requests = 0
        var unchanged = 0
        var bytes = 0
    }

    private let transport = URLSessionTransport()
    private let counts = Mutex(Totals())

    var totals: Totals { counts.withLock { $0 } }

    func open(_ request: GrandstandClient.Request) async throws -> GrandstandClient.Response {
        let response = try await transport.open(request)
        var body = Data()
        for try await piece in response.body { body += piece }
        counts.withLock { counts in
            counts.requests += 1
            counts.bytes += body.count
            if response.status == 304 { counts.unchanged += 1 }
        }
        return GrandstandClient.Response(status: response.status, headers: response.headers, body: body)
    }
}
