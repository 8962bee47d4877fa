internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Testing

/// The numbers of a rehearsal's report, and its text.
struct RehearsalReportTests {
    private static let midnight = Date(timeIntervalSince1970: 1_795_824_000)
    private static let base = Date(timeIntervalSince1970: 5_000)

    private static func at(_ hour: Double) -> Date { midnight.addingTimeInterval(hour * 3_600) }
    private static func after(_ seconds: Double) -> Date { base.addingTimeInterval(seconds) }

    /// A rehearsal from 17:45 to 20:00 of the day. It plays one hour of the day in a minute.
    private static func plan() throws -> RehearsalPlan {
        let event = RehearsalEvent(key: "derby", startsAt: at(18), endsAt: at(20), hasContentType: true)
        return try #require(
            RehearsalPlan(
                playing: [event], others: [], day: midnight..<at(24), messages: 3, speed: 60))
    }

    private static func app() throws -> AppEnvironment {
        AppEnvironment(bundleID: try #require(BundleID(rawValue: "com.example.Stadium")), environment: .production)
    }

    /// Message 1 arrives at once, 2 is superseded by 3, and the end arrives late. On the second channel 3 never
    /// arrives.
    private static func record() throws -> RehearsalRecord {
        var record = RehearsalRecord(base: base)
        record.messages = [
            .init(event: 0, number: 1, sentAt: after(15), acceptedAt: after(15.1)),
            .init(event: 0, number: 2, sentAt: after(20), acceptedAt: after(24)),
            .init(event: 0, number: 3, sentAt: after(25), acceptedAt: after(25)),
        ]
        record.arrivals = [
            .init(event: 0, channelID: "one", number: 1, at: after(15.2)),
            .init(event: 0, channelID: "one", number: 3, at: after(26)),
            // This message is later but has an older state, so it is not the newest.
            .init(event: 0, channelID: "one", number: 2, at: after(27)),
            .init(event: 0, channelID: "two", number: 1, at: after(15.1)),
            .init(event: 0, channelID: "two", number: 2, at: after(24.5)),
        ]
        record.channels = [0: ["one", "two"]]
        record.placeChanges = [
            .init(app: try app(), at: after(-1), by: 1), .init(app: try app(), at: after(1), by: 1),
            .init(app: try app(), at: after(70), by: -1),
        ]
        record.starts = [0, 0.2, 0.9, 1.1, 5].map(after)
        record.decisions = [
            .init(event: 0, number: 1, outcome: .update, isUrgent: true, faults: []),
            .init(event: 0, number: 2, outcome: .rings, isUrgent: true, faults: ["/contentState/home: wrong."]),
            .init(event: 0, number: 3, outcome: nil, isUrgent: false, faults: ["/contentState/home: wrong."]),
            .init(event: 0, number: 4, outcome: .end, isUrgent: true, faults: []),
        ]
        record.outcomes = ["accepted": 4, "superseded": 1]
        record.fault = RehearsalFault(kind: .outage, at: after(20), seconds: 4)
        record.finishedAt = after(140)
        return record
    }

    @Test func `a message has arrived when it or newer state has arrived`() throws {
        let delays = RehearsalDelays(try Self.record())
        #expect(delays.seconds.count == 5)
        #expect(zip(delays.seconds, [0, 0.1, 0.5, 1, 2]).allSatisfy { abs($0 - $1) < 1e-6 })
        // The gap counts from the request for message 2, which the server accepted late.
        #expect(delays.gap?.seconds == 6)
        #expect(delays.gap?.since == Self.after(20))
        #expect(delays.behind == [0: 1])
        // A state that waits for its turn is not late, but must arrive.
        var quiet = try Self.record()
        quiet.messages[1].isQuiet = true
        #expect(RehearsalDelays(quiet).gap?.seconds == 1 && RehearsalDelays(quiet).behind == [0: 1])
        quiet.arrivals = []
        #expect(RehearsalDelays(quiet).behind == [0: 2])
    }

    @Test func `urgent messages are counted by hours of the day, and faults by type`() throws {
        let run = RehearsalRun(try Self.record(), of: try Self.plan(), limits: [:])
        #expect(run.states.map { "\($0.1) \($0.0)" } == ["1 update", "1 rings", "1 end"])
        // The urgent messages were sent at 18:00, 18:40 and 20:00.
        #expect((run.urgent.count, run.urgent.mostPerHour, run.urgent.eventKey) == (3, 2, "derby"))
        #expect(run.urgent.from == Self.at(18))
        #expect((run.checked, run.undecodable) == (4, 2))
        #expect(run.faults.map { "\($0.count) \($0.detail)" } == ["2 /contentState/home: wrong."])
        #expect(run.faults.map(\.at) == [Self.at(18).addingTimeInterval(2_400)])
    }

    @Test func `channels in use are counted by hours of the day, with their maximum`() throws {
        let run = RehearsalRun(try Self.record(), of: try Self.plan(), limits: [try Self.app(): 300])
        let places = try #require(run.places.first)
        #expect(run.places.count == 1)
        #expect((places.peak, places.limit) == (2, 300))
        #expect(places.peakAt == Self.at(17.75).addingTimeInterval(60))
        #expect(places.hours.map(\.from) == [17.75, 18.75, 19.75].map(Self.at))
        #expect(places.hours.map(\.places) == [2, 2, 1])
    }

    @Test func `real times are shown as times of the day`() throws {
        let run = RehearsalRun(try Self.record(), of: try Self.plan(), limits: [:])
        #expect(run.fault?.at == Self.at(17.75).addingTimeInterval(1_200))
        #expect(run.gap?.eventKey == "derby")
        #expect(run.gap?.at == Self.at(17.75).addingTimeInterval(1_200))
        #expect(run.lost.map(\.eventKey) == ["derby"] && run.lost.map(\.channels) == [1])
        #expect(run.startsPerSecond == 3 && run.seconds == 140)
    }

    @Test func `the report for programs has its numbers, and the one for people at most a hundred columns`() throws {
        let plan = try Self.plan()
        let report = RehearsalReport(
            day: "2026-11-28", zone: "UTC", timeZone: .gmt, plan: plan, messages: 3, phones: 7,
            runs: [RehearsalRun(try Self.record(), of: plan, limits: [:])])
        let json = try JSONValue(parsing: JSONWriter.text(report))
        let run = try #require(json["runs"]?.elements?.first)
        #expect(
            run["delay"].map { String(decoding: $0.bytes, as: UTF8.self) }
                == #"{"count":5,"p50":0.5,"p95":2.0,"p99":2.0,"worst":2.0}"#)
        #expect(run["fault"]?["kind"]?.string == "outage" && run["gap"]?["eventKey"]?.string == "derby")
        #expect(report.text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}
