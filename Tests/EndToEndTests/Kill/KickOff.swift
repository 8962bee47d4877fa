internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandCommand

/// A start during which servers or PostgreSQL are killed: an event, the followers of its team, and what they do
/// meanwhile.
struct KickOff: Sendable {
    let event: String
    /// Phones that register before the start.
    let early: [Fan]
    /// Phones that register during the start.
    let late: [Fan]
    /// Early phones whose app is reinstalled during the start: the same phone and token, another installation.
    let reinstalled: [Fan]

    private let stadium: Stadium
    private let simulator: Simulator
    private let deviceKey: String

    /// Adds the phones to the simulator: `size` early ones with several system versions, and some late ones.
    init(_ event: String, size: Int, _ stadium: Stadium, _ simulator: Simulator, deviceKey: String) throws {
        self.event = event
        self.stadium = stadium
        self.simulator = simulator
        self.deviceKey = deviceKey
        func fans(_ kind: String, _ count: Int) throws -> [Fan] {
            try (0..<count).map { n in
                var fan = try Fan(
                    "\(event)-\(kind)-\(n)", Self.systems[n % Self.systems.count], simulator)
                fan.topics = ["team:\(event)", "league:\(event)"]
                return fan
            }
        }
        early = try fans("early", size)
        late = try fans("late", size / 5)
        reinstalled = early.prefix(size / 10).map { fan in
            var fan = fan
            fan.installation = UUID()
            fan.secret = Fan.makeSecret()
            return fan
        }
    }

    private static let systems = ["18.4", "26.0", "17.4", "18.0", "17.0"]

    var installations: [Fan] { early + late + reinstalled }

    /// Registers the early phones, declares the event and starts it; returns when its start was accepted.
    func begin() async throws {
        try await register(early)
        let body = Stage.startingEvent(topics: ["team:\(event)", "league:\(event)"])
        try await insist("the event is declared") { try await $0("PUT", "/v1/events/\(event)", body) }
        try await insist("the start is asked for") { try await $0("POST", "/v1/events/\(event)/starts") }
    }

    /// Registers the late and the reinstalled phones while servers are killed.
    func registerDuringStart() async throws { try await register(late + reinstalled) }

    /// Every second phone reports its card, if the phone shows a card.
    ///
    /// - Returns: the phones that reported a card.
    func confirm() async throws -> [Fan] {
        let shown = (early + late).enumerated().filter { $0.offset.isMultiple(of: 2) && cards(of: $0.element) > 0 }
            .map(\.element)
        try await forEach(shown, atMost: 12) { fan in
            try await insist("\(fan.phone) reports", key: deviceKey) { try await fan.reporting($0, of: event) }
        }
        return shown
    }

    func cards(of fan: Fan) -> Int { simulator.lockScreen(of: fan.phone).count }

    /// Whether a request is a push for one of these phones.
    var isPush: @Sendable (JournalEntry) -> Bool {
        let tokens = Set((early + late).compactMap(\.token))
        return { entry in entry.request.deviceToken.map(tokens.contains) ?? false }
    }

    /// Waits until nothing is left to send.
    func done() async throws -> JSON {
        try await until("the start of \(event) is done", within: .seconds(120)) {
            let answer = try? await stadium.caller(0)?("GET", "/v1/events/\(event)/starts")
            guard let report = answer?.json, report["state"]?.string == "done" else { return nil }
            return report
        }
    }

    private func register(_ fans: [Fan]) async throws {
        try await forEach(fans, atMost: 12) { fan in
            try await insist("\(fan.phone) registers", key: deviceKey) { try await fan.registration($0) }
        }
    }

    /// Repeats a call at the two replicas in turn until it succeeds, as clients do.
    ///
    /// - Parameter key: another key than that of the stadium.
    private func insist(
        _ what: String, key: String? = nil, _ call: @Sendable (HTTPCaller) async throws -> HTTPCaller.Answer
    ) async throws {
        var replica = 0
        try await until(what, within: .seconds(60)) {
            replica = 1 - replica
            guard var caller = stadium.caller(replica) else { return false }
            if let key { caller.secret = key }
            guard let answer = try? await call(caller) else { return false }
            if (200..<300).contains(answer.status) { return true }
            try #require(answer.status >= 500, "\(what): \(answer.text)")
            return false
        }
    }
}
