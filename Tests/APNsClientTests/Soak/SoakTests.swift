internal import APNsClient
internal import CoreMetrics
internal import Foundation
internal import Grandstand
internal import HTTP2
internal import MetricsTestKit
internal import Synchronization
internal import Testing

/// Random faults at full rate. The gate runs a few seconds of it; `GRANDSTAND_SOAK_SECONDS=600` runs ten minutes, and
/// `GRANDSTAND_SOAK_SEED` repeats a run's faults.
@Suite(.timeLimit(.minutes(15)))
struct SoakTests {
    private static let seconds = ProcessInfo.processInfo.environment["GRANDSTAND_SOAK_SECONDS"].flatMap(Int.init) ?? 3
    private static let seed =
        ProcessInfo.processInfo.environment["GRANDSTAND_SOAK_SEED"].flatMap(UInt64.init)
        ?? UInt64.random(in: 0...UInt64.max)

    /// What a server does with a request, and how often in a thousand.
    private enum Fault: CaseIterable {
        case refusedStream, reset, silence, throttled, internalError, shutdown, unavailable, rejected
        case goAway, cut, oneStream

        var perMille: Int {
            switch self {
            case .refusedStream: 20
            case .reset, .throttled, .internalError, .shutdown, .unavailable, .rejected: 5
            case .silence: 2
            case .goAway, .cut, .oneStream: 1
            }
        }

        static func draw(_ random: inout SplitMix) -> Fault? {
            var number = Int(random.next() % 1_000)
            for fault in allCases {
                if number < fault.perMille { return fault }
                number -= fault.perMille
            }
            return nil
        }

        /// Whether the request was carried out.
        func strike(_ stream: HTTP2ServerStream) -> Bool {
            switch self {
            case .refusedStream: stream.reset(code: HTTP2ErrorCode.refusedStream.rawValue)
            case .reset: stream.reset(code: HTTP2ErrorCode.internalError.rawValue)
            case .silence: break
            case .throttled: stream.refuse(429, "TooManyRequests")
            case .internalError: stream.refuse(500, "InternalServerError")
            case .shutdown: stream.refuse(503, "Shutdown")
            case .unavailable: stream.refuse(503, "ServiceUnavailable")
            case .rejected: stream.refuse(400, "BadChannelId")
            case .goAway:
                stream.accept()
                // What came last, not this one: requests end in another order than they begin.
                stream.connection.goAway(
                    code: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8), lastStream: Seen.last(stream))
                return true
            case .cut: stream.connection.close()
            case .oneStream:
                Seen.narrow(stream)
                stream.accept()
                return true
            }
            return false
        }
    }

    /// What the server remembers of a connection.
    private struct Seen {
        /// The highest stream that was handed over.
        var last = 0
        /// One stream is allowed, until the next request.
        var isNarrow = false

        static func note(_ stream: HTTP2ServerStream) {
            let wasNarrow = with(stream) { seen in
                seen.last = max(seen.last, stream.id)
                defer { seen.isNarrow = false }
                return seen.isNarrow
            }
            if wasNarrow { stream.connection.setMaximumConcurrentStreams(1_000) }
        }

        static func narrow(_ stream: HTTP2ServerStream) {
            with(stream) { $0.isNarrow = true }
            stream.connection.setMaximumConcurrentStreams(1)
        }

        static func last(_ stream: HTTP2ServerStream) -> Int { with(stream) { $0.last } }

        @discardableResult
        private static func with<Result>(_ stream: HTTP2ServerStream, _ body: (inout Seen) -> Result) -> Result {
            stream.connection.withUserInfo { info in
                var seen = info as? Seen ?? Seen()
                defer { info = seen }
                return body(&seen)
            }
        }
    }

    @Test func `under random faults every message ends, once, and nothing is left behind`() async throws {
        print("soak: \(Self.seconds) s, GRANDSTAND_SOAK_SEED=\(Self.seed)")
        let random = Mutex(SplitMix(seed: Self.seed))
        let (ends, acceptances) = (Tally(), Tally())
        let gauges = Gauges()
        try await FaultServer.with(
            settings: {
                $0.metrics = gauges
                $0.requestTimeout = .seconds(1)
            },
            answering: { request, stream in
                Seen.note(stream)
                if let fault = random.withLock({ Fault.draw(&$0) }) {
                    if fault.strike(stream) { acceptances.add(request.channel) }
                } else {
                    acceptances.add(request.channel)
                    stream.accept()
                }
            }
        ) { stage in
            let clock = ContinuousClock()
            let deadline = clock.now + .seconds(Self.seconds)
            var warm: Int?
            // Batches: between two of them nothing is in flight, so what is held then has leaked.
            var batch = 0
            while clock.now < deadline {
                await Self.round(batch, by: stage.client, into: ends)
                let counts = acceptances.take()
                // Only what came back as unanswered may have been asked twice.
                #expect(counts.values.count { $0 > 1 } <= ends["unanswered"], "batch \(batch)")
                batch += 1
                if batch == 3 { warm = Self.residentMegabytes }
            }
            #expect(ends["accepted"] + ends["rejected"] == batch * Self.perRound, "\(ends.all)")
            stage.client.recordGauges()
            let streams = gauges.kept.meters.filter { $0.label == "apns_streams_in_use" }.compactMap(\.values.last)
            #expect(streams == [0])
            if let warm { #expect(Self.residentMegabytes < warm + 48, "memory grows: \(warm) MB at first") }
            print("soak: \(batch * Self.perRound) messages, \(ends.all), \(Self.residentMegabytes) MB resident")
        }
    }

    private static let perRound = 2_000

    /// Sends messages until each is accepted or rejected for good, as a dispatcher does: 150 at a time.
    private static func round(_ round: Int, by client: APNsClient, into ends: Tally) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<perRound {
                if number >= 150 { await group.next() }
                group.addTask { await deliver(round * perRound + number, by: client, into: ends) }
            }
        }
    }

    private static func deliver(_ number: Int, by client: APNsClient, into ends: Tally) async {
        while true {
            switch await FaultServer.send(number, by: client) {
            case .accepted:
                ends.add("accepted")
                return
            case .refused(let refusal) where refusal.status < 429:
                ends.add("rejected")
                return
            case .refused: ends.add("refused")
            case .unanswered: ends.add("unanswered")
            case .unsent, .withheld: ends.add("unsent")
            }
        }
    }

    private static var residentMegabytes: Int {
        let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return (pages.flatMap { Int($0) } ?? 0) * 4_096 / 1_048_576
    }
}

/// Keeps meters and drops the rest, of which there are millions.
private final class Gauges: MetricsFactory {
    let kept = TestMetrics()

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        kept.makeMeter(label: label, dimensions: dimensions)
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        NOOPMetricsHandler.instance
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { NOOPMetricsHandler.instance }

    func destroyMeter(_ handler: any MeterHandler) { kept.destroyMeter(handler) }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

/// splitmix64: the same numbers for the same seed.
private struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
