package import Foundation

/// The server as a phone needs it. Nothing is thrown: an answer that did not come is an outcome like others.
package protocol DeviceServer: Sendable {
    /// Makes a request once.
    func perform(_ request: DeviceRequest, as credential: InstallationCredential) async -> DeviceOutcome
    /// Where an event's updates come from, and its newest content.
    func lookup(_ eventKey: String) async -> LookupOutcome
}

/// What a lookup came to.
package enum LookupOutcome: Sendable, Hashable {
    /// - Parameters:
    ///   - channelID: `nil`: the event's activities are updated by tokens.
    ///   - contentState: the newest, as JSON; `nil`: there is none yet.
    case found(channelID: String?, contentState: Data?)
    /// The channel is not there yet; seconds until it is worth asking again.
    case pending(retryAfter: Int)
    case notFound
    case ended
    case refused(DeviceRefusal)
    case unanswered(String)
}

/// Time as a phone needs it: how long ago, and waiting.
package protocol PhoneTime: Sendable {
    /// Since some moment; goes on while the phone sleeps, and does not mind the clock that people set.
    var now: Duration { get }
    /// The clock that people set.
    var date: Date { get }
    /// Returns early when the task is cancelled.
    func sleep(until: Duration) async
    /// From 0 up to 1.
    func jitter() -> Double
}

/// The phone's own.
package struct SystemTime: PhoneTime {
    private let start = ContinuousClock.now

    package init() {}

    package var now: Duration { ContinuousClock.now - start }
    package var date: Date { Date() }
    package func sleep(until: Duration) async { try? await Task.sleep(until: start + until, clock: .continuous) }
    package func jitter() -> Double { .random(in: 0..<1) }
}
