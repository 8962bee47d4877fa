internal import APNsWire
internal import Foundation
internal import JSON
internal import Testing

@testable internal import APNsSimulator

/// Mutated requests: every answer is one that APNs can give, and the next valid request is accepted. The requests are
/// the same each time. GRANDSTAND_FUZZ_SEED chooses other requests, and GRANDSTAND_FUZZ_COUNT sets the number of
/// requests.
@Suite(.timeLimit(.minutes(20)))
struct FuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["GRANDSTAND_FUZZ_SEED"].flatMap(UInt64.init) ?? 20_261_121
    private static let count = environment["GRANDSTAND_FUZZ_COUNT"].flatMap(Int.init) ?? 20_000

    @Test func `mutated requests of every kind get a valid answer`() throws {
        var random = SeededRandom(seed: Self.seed)
        var bench = try Bench()
        try bench.addChannels()
        let token = try bench.provider.token(at: Bench.now)
        let good = Self.good(bench, token)
        var statuses: Set<Int> = []
        for number in 0..<Self.count {
            guard var request = good.randomElement(using: &random) else { return }
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

    @Test func `scripts of faults are accepted, or refused with a reason`() {
        var random = SeededRandom(seed: Self.seed)
        let script =
            #"{"seed":7,"faults":[{"name":"a","match":{"operation":"broadcast","rate":0.1},"action":"refuse","reason":"TooManyRequests"},{"match":{"nth":1},"action":"delay","seconds":1}]}"#
        for _ in 0..<Self.count / 10 {
            var bytes = Array(script.utf8)
            for _ in 0...Int.random(in: 0..<3, using: &random) { Self.mutilate(&bytes, &random) }
            do {
                _ = try JSONValue(bytes, at: "script").read(FaultBook.Script.self, at: "script")
            } catch {
                #expect(!"\(error)".isEmpty)
            }
        }
    }

    private static func good(_ bench: Bench, _ token: String) -> [SimulatorRequest] {
        let app = "/1/apps/\(Bench.bundleID)"
        let channel = [("apns-channel-id", bench.stored)]
        let sending =
            channel + [("apns-push-type", "liveactivity"), ("apns-expiration", "0"), ("apns-priority", "5")]
        func request(
            _ method: String, _ path: String, _ headers: [(String, String)] = [], _ body: String = ""
        ) -> SimulatorRequest {
            SimulatorRequest(
                environment: .development, connection: 0, method: method, path: path,
                headers: ([("authorization", "bearer \(token)")] + headers).map { .init($0.0, $0.1) },
                body: Array(body.utf8))
        }
        return [
            request("POST", "\(app)/channels", [], #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#),
            request("GET", "\(app)/channels", channel), request("GET", "\(app)/all-channels"),
            request("DELETE", "\(app)/channels", [("apns-channel-id", bench.none)]),
            request("POST", "/4/broadcasts/apps/\(Bench.bundleID)", sending, Bench.update),
            request(
                "POST", "/3/device/abcdef",
                [
                    ("apns-topic", "\(Bench.bundleID).push-type.liveactivity"), ("apns-push-type", "liveactivity"),
                ], Bench.update),
        ]
    }

    private static func mutilate(_ request: inout SimulatorRequest, _ random: inout SeededRandom) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            request.method =
                ["GET", "POST", "DELETE", "PUT", "", "get", "\u{0}"].randomElement(using: &random) ?? ""
        case 1:
            var bytes = Array(request.path.utf8)
            mutilate(&bytes, &random)
            request.path = String(decoding: bytes, as: UTF8.self)
        case 2 where !request.headers.isEmpty:
            request.headers.remove(at: Int.random(in: request.headers.indices, using: &random))
        case 3 where !request.headers.isEmpty:
            let index = Int.random(in: request.headers.indices, using: &random)
            var bytes = Array(request.headers[index].value.utf8)
            mutilate(&bytes, &random)
            request.headers[index].value = String(decoding: bytes, as: UTF8.self)
        case 4 where !request.headers.isEmpty:
            if let header = request.headers.randomElement(using: &random) { request.headers.append(header) }
        default: mutilate(&request.body, &random)
        }
    }

    private static func mutilate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        guard !bytes.isEmpty else {
            bytes = [UInt8.random(in: .min ... .max, using: &random)]
            return
        }
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: bytes[place...].prefix(8), at: place)
        case 3: bytes.removeSubrange(place...)
        default:
            let words = ["{", "}", "[", "\"", ",", ":", "null", "1e999", "\\ud800", "-", "9223372036854775808"]
            bytes.insert(contentsOf: Array((words.randomElement(using: &random) ?? "").utf8), at: place)
        }
    }
}
