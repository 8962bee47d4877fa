package import Foundation
package import GrandstandClient
internal import GrandstandContract
package import GrandstandLiveActivities
internal import Synchronization

/// A phone without ActivityKit. What it shows outlives the app that started it, as on a phone.
package final class FakeHost: ActivityHost {
    private struct State {
        var condition: HostCondition
        var readers: [AsyncStream<HostEvent>.Continuation] = []
        var isInFront = true
        var onReading: (@Sendable () async -> Void)?
        var channels: [String?] = []
        var contents: [String: Data] = [:]
        var secondCards = 0
    }

    private let state: Mutex<State>

    package init(_ change: (inout HostCondition) -> Void = { _ in }) {
        var condition = HostCondition()
        condition.facts = InstallationFacts(
            systemVersion: "18.4.1", appVersion: "5.2", locale: "de-AT", timeZone: "Europe/Vienna",
            liveActivitiesEnabled: true, frequentPushesEnabled: true)
        condition.types = ["MatchAttributes"]
        change(&condition)
        state = Mutex(State(condition: condition))
    }

    /// The channel of every start; `nil`: the activity got a token.
    package var channels: [String?] { state.withLock { $0.channels } }
    package var cards: [DeviceActivity] { state.withLock { $0.condition.activities } }
    /// How often an activity was started while there was one of the same event and type.
    package var secondCards: Int { state.withLock { $0.secondCards } }
    /// What an activity shows, as JSON.
    package func content(of id: String) -> Data? { state.withLock { $0.contents[id] } }
    /// Sets what an activity shows, as if a message had reached it or a push had started it.
    package func show(_ content: Data, on id: String) { state.withLock { $0.contents[id] = content } }

    /// Changes the system's state without an event.
    package func change(_ change: (inout HostCondition) -> Void) { state.withLock { change(&$0.condition) } }

    /// Sets whether the app is in the foreground.
    package func setInFront(_ isInFront: Bool) { state.withLock { $0.isInFront = isInFront } }

    /// Sets what happens during the next reading, whose answer is older.
    package func setOnReading(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.onReading = body }
    }

    package func tell(_ event: HostEvent) {
        for reader in state.withLock({ $0.readers }) { reader.yield(event) }
    }

    package func condition() async -> HostCondition {
        let (condition, body) = state.withLock { ($0.condition, $0.onReading.take()) }
        await body?()
        return condition
    }

    package func events() -> AsyncStream<HostEvent> {
        AsyncStream { continuation in state.withLock { $0.readers.append(continuation) } }
    }

    package func start(_ wanted: WantedStart, as found: Lookup) async throws -> DeviceActivity? {
        state.withLock { state in
            state.secondCards += state.condition.activities.count {
                $0.eventKey == wanted.eventKey && $0.attributesType == wanted.attributesType && $0.state.isLive
            }
            guard state.isInFront else { return nil }
            state.channels.append(found.channelId)
            let card = DeviceActivity(
                id: "card-\(state.channels.count)", attributesType: wanted.attributesType, eventKey: wanted.eventKey,
                state: wanted.startsAt == nil ? .active : .pending)
            state.condition.activities.append(card)
            state.contents[card.id] = found.contentState?.bytes ?? wanted.contentState
            return card
        }
    }

    package func makeStart(for activity: String) async -> WantedStart? {
        state.withLock { state in
            state.condition.activities.first { $0.id == activity }.map { card in
                WantedStart(
                    eventKey: card.eventKey, attributesType: card.attributesType, attributes: Data("{}".utf8),
                    contentState: state.contents[card.id] ?? Data("{}".utf8))
            }
        }
    }

    package func end(_ activity: String, contentState: Data?, atOnce: Bool) async {
        state.withLock { state in
            guard let index = state.condition.activities.firstIndex(where: { $0.id == activity }) else { return }
            if let contentState { state.contents[activity] = contentState }
            if atOnce {
                state.condition.activities.remove(at: index)
            } else {
                state.condition.activities[index].state = .ended
            }
        }
    }
}

/// A phone with a disk, a keychain and a stand-in for ActivityKit, on which the app is launched and killed.
package struct Phone: Sendable {
    package let folder = FileManager.default.temporaryDirectory.appendingPathComponent("grandstand-\(UUID())")
    package let host: FakeHost
    package let server = FakeServer()
    /// The network between the phone and the server.
    package let network: FakeNetwork
    package let time: ClientTime

    package init(host: FakeHost = FakeHost(), time: ClientTime = TestTime().time) {
        self.host = host
        network = FakeNetwork(to: server)
        self.time = time
    }

    package var record: URL { folder.appendingPathComponent("record.json") }
    package var keychain: URL { folder.appendingPathComponent("keychain.json") }

    /// What the phone keeps.
    ///
    /// - Parameter refusals: how many reads of the keychain fail first.
    package func store(refusals: Int = 0) -> DeviceStore {
        DeviceStore(
            file: record, vault: FileVault(file: keychain, refusals: refusals),
            app: .init("com.example.Stadium", .production))
    }

    /// Launches the app.
    package func launch(refusals: Int = 0, server: (any DeviceAPI)? = nil) async -> LiveActivities {
        let app = LiveActivities(
            host: host, server: server ?? network, store: store(refusals: refusals), time: time)
        await app.start()
        return app
    }

    /// Runs `body` with a phone on which the app was launched.
    package static func with(
        _ phone: Phone = Phone(), _ body: (Phone, LiveActivities) async throws -> Void
    ) async throws {
        defer { phone.discard() }
        let app = await phone.launch()
        try await body(phone, app)
        await app.stop()
    }

    package func discard() { try? FileManager.default.removeItem(at: folder) }

    /// What the server has of this phone's installation.
    package func known(_ app: LiveActivities) async -> FakeServer.Installation? {
        await app.status.installation.flatMap { server.installations[$0.uuidString.lowercased()] }
    }

    /// A card of an event, for example one that a push started.
    package static func card(_ id: String, _ key: String = "derby") -> DeviceActivity {
        DeviceActivity(id: id, attributesType: "MatchAttributes", eventKey: key, state: .active)
    }

    package static func match(_ key: String = "derby", startsAt: Date? = nil) -> WantedStart {
        WantedStart(
            eventKey: key, attributesType: "MatchAttributes", attributes: Data(#"{"home": "Rapid"}"#.utf8),
            contentState: Data(#"{"home": 0}"#.utf8), startsAt: startsAt)
    }
}

extension LiveActivities {
    /// Waits for the first status for which `what` is true.
    package func wait(_ what: @Sendable (LiveActivitiesStatus) -> Bool) async -> LiveActivitiesStatus {
        for await status in statuses() where what(status) { return status }
        return LiveActivitiesStatus()
    }

    /// Returns when the server has everything.
    package func uploaded() async { _ = await wait { $0.phase == .upToDate } }
}

/// A keychain in a file. It may be locked at first, as before the first unlock.
package final class FileVault: Vault {
    private let file: URL
    private let refusals: Mutex<Int>

    /// - Parameter refusals: how many reads fail first.
    package init(file: URL, refusals: Int = 0) {
        self.file = file
        self.refusals = Mutex(refusals)
    }

    package func read() throws -> Data? {
        try refusals.withLock { left in
            left -= 1
            if left >= 0 { throw CocoaError(.fileReadNoPermission) }
        }
        return try? Data(contentsOf: file)
    }

    package func write(_ data: Data?) throws {
        if let data { try data.write(to: file) } else { try? FileManager.default.removeItem(at: file) }
    }
}

/// A phone's clock that moves only while a task sleeps, so that tests do not wait.
package final class TestTime: Sendable {
    private let elapsed = Mutex(TimeInterval.zero)
    private let wallClock = Mutex(Date(timeIntervalSince1970: 1_700_000_000))

    package init() {}

    package var date: Date { wallClock.withLock { $0 } }

    /// Sets the wall clock, as a person can.
    package func set(_ date: Date) { wallClock.withLock { $0 = date } }

    package var time: ClientTime {
        var time = ClientTime.system
        time.now = { self.date }
        time.uptime = { self.elapsed.withLock { $0 } }
        time.sleep = { wait in
            let end = self.elapsed.withLock { $0 + wait }
            // Other tasks may have something to do first.
            await Task.yield()
            try Task.checkCancellation()
            self.elapsed.withLock { $0 = max($0, end) }
        }
        time.random = { 0.5 }
        return time
    }
}

extension ClientTime {
    /// A phone's clock that stands still. A sleep lasts until it is cancelled.
    package static var standing: ClientTime {
        var time = TestTime().time
        time.sleep = { _ in try await Task.sleep(for: .seconds(86_400)) }
        return time
    }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
package struct Random: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    package mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
