internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// Processes that are killed, answers that are lost, many replicas: Apple's list and the ledger end up the same.
@Suite(.timeLimit(.minutes(20)))
struct CrashTests {
    @Test func `after lost answers and two kills each event has exactly one channel, and none is unused`()
        async throws
    {
        let settings = ["GRANDSTAND_APNS_REQUEST_TIMEOUT": "0.5", "GRANDSTAND_RECONCILE_INTERVAL": "0"]
        try await Stage.place(settings: settings, options: { $0.quirks.capitals = .accepted }) {
            environment, simulator in
            let secret = try await Stage.secret(environment)
            try simulator.addFaults(
                #"{"faults": [{"match": {"operation": "create", "every": 10}, "action": "lose"}]}"#)
            let events = (0..<Self.events).map { "event-\($0)" }
            let third = events.count / 3
            for round in 0..<2 {
                let server = try await ServerProcess.start(environment)
                let api = HTTPCaller(url: server.url, secret: secret)
                if round == 0 { try await Stage.putApp(api) }
                // The server is killed while some calls are on their way, some are processed but not answered, and some
                // are not yet made.
                let mark = simulator.journal().count { $0.request.isCreation } + third / 2
                async let declared: Void = Self.declare(events[(round * third)..<((round + 1) * third)], api)
                _ = try await simulator.requests(mark) { $0.request.isCreation }
                let hold = try simulator.hold(#""operation": "create""#)
                _ = try await simulator.requests(mark + 8) { $0.request.isCreation }
                try await declared
                await server.kill()
                simulator.removeFault(hold)
            }

            let server = try await ServerProcess.start(environment)
            let api = HTTPCaller(url: server.url, secret: secret)
            try await Self.declare(events[...], api)
            let channels = try await until("every event has its channel", within: .seconds(120)) {
                try await Self.channels(of: events, api)
            }
            #expect(channels.count == Set(channels).count)
            #expect(simulator.journal().count { $0.fate == .dropped } >= events.count / 10 - 2)
            // The server looks for the channels of unanswered calls until it knows the outcome of the last one.
            _ = try await until("no channel is left over", within: .seconds(60)) {
                let report = try await api(
                    "POST", "/v1/apps/\(Stage.bundleID)/development/reconciliations", "{}"
                ).json
                return report["matched"]?.int == events.count && report["unmanaged"]?.items == []
                    && report["missing"]?.items == [] ? true : nil
            }
            #expect(
                simulator.channels(of: Stage.bundleID, in: .development).map(\.id).sorted() == channels.sorted())
        }
    }

    @Test func `of four hundred creations over three replicas at a limit of a hundred, a hundred succeed`() async throws
    {
        try await Stage.place(options: { $0.quirks.capitals = .accepted }) { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { first in
                try await Stage.serve(environment, simulator: simulator) { second in
                    try await Stage.serve(environment, simulator: simulator) { third in
                        try await first.putApp(channelLimit: 100)
                        async let one = first.createChannels(134)
                        async let two = second.createChannels(133)
                        async let three = third.createChannels(133)
                        let answers = try await one + two + three
                        #expect(answers.count { $0.status == 201 } == 100)
                        // If there are other answers, the failure shows their texts.
                        let others: [String] = Self.texts(answers)
                        #expect(others == [])
                        #expect(simulator.journal().count { $0.request.isCreation } == 100)
                        #expect(first.atApple().count == 100)
                        #expect(try await second.quota()["used"]?.int == 100)
                    }
                }
            }
        }
    }

    /// The texts of answers that are neither 201 nor the refusal `quota-exhausted`.
    private static func texts(_ answers: [HTTPCaller.Answer]) -> [String] {
        answers.filter { $0.status != 201 && $0.slug != "quota-exhausted" }.map(\.text)
    }

    private static let events = 1_000

    /// Declares events with one audience each, some at a time. Declaring one again does no harm.
    private static func declare(_ keys: ArraySlice<String>, _ api: HTTPCaller) async throws {
        let audience = Stage.audience(.development, .noMessageStored)
        try await forEach(keys, atMost: 8) { key in
            let answer = try await api("PUT", "/v1/events/\(key)", #"{"name": "Match", "audiences": [\#(audience)]}"#)
            try #require([200, 201].contains(answer.status), "\(answer.text)")
        }
    }

    /// Apple's ID of each event's channel; `nil` unless all are active.
    private static func channels(of events: [String], _ api: HTTPCaller) async throws -> [String]? {
        var channels: [String] = []
        var cursor = ""
        repeat {
            let page = try await api("GET", "/v1/events?limit=200\(cursor)").json
            for event in page["items"]?.items ?? [] {
                let channel = event["audiences"]?[0]?["channel"]
                guard channel?["state"]?.string == "active", let id = channel?["channelId"]?.string else { return nil }
                channels.append(id)
            }
            cursor = page["nextCursor"]?.string.map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        return channels.count == events.count ? channels : nil
    }
}
