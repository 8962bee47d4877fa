package import Foundation
internal import GrandstandContract
package import GrandstandLiveActivities
internal import Synchronization

/// A phone without ActivityKit. What it shows outlives the app that started it, as on a phone.
package final class FakeHost: ActivityHost {
    private struct State {
        var condition: HostCondition
        var readers: [AsyncStream<HostEvent>.Continuation] = []
        var isInFront = true
        var onStart: @Sendable () -> Void = {}
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

    /// Sets what else happens whenever an activity is started.
    package func setOnStart(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onStart = body } }

    package func tell(_ event: HostEvent) {
        for reader in state.withLock({ $0.readers }) { reader.yield(event) }
    }

    package func condition() async -> HostCondition { state.withLock { $0.condition } }

    package func events() -> AsyncStream<HostEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: HostEvent.self)
        state.withLock { $0.readers.append(continuation) }
        return stream
    }

    package func start(_ wanted: WantedStart, as found: Lookup) async throws -> DeviceActivity? {
        state.withLock { state in
            let isSecond = state.condition.activities.contains {
                $0.eventKey == wanted.eventKey && $0.attributesType == wanted.attributesType && $0.state.isLive
            }
            if isSecond { state.secondCards += 1 }
            guard state.isInFront else { return nil }
            state.channels.append(found.channelId)
            state.onStart()
            let card = DeviceActivity(
                id: "card-\(state.channels.count)", attributesType: wanted.attributesType, eventKey: wanted.eventKey,
                state: wanted.startsAt == nil ? .active : .pending)
            state.condition.activities.append(card)
            state.contents[card.id] = found.contentState?.bytes ?? wanted.contentState
            return card
        }
    }

    package func savedStart(for activity: String) async -> WantedStart? {
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
