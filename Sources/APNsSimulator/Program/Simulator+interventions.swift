internal import APNsWire
internal import Synchronization

/// Lets a test change the answers of a running simulator. Rules act in the order they were added; only the first that
/// matches a request acts.
extension Simulator {
    /// Withholds the answers to all matching requests until the hold is released. The requests are processed.
    package func hold(where matches: @escaping @Sendable (SimulatorRequest) -> Bool = { _ in true }) -> Hold {
        let hold = Hold()
        look { $0.interventions.add(.hold(hold), count: nil, where: matches) }
        return hold
    }

    /// Sends this answer to the next `count` matching requests, which are not processed. `apns-request-id` is added, or
    /// `apns-id` on a device's path.
    package func answerNext(
        _ count: Int = 1, with answer: SimulatorAnswer,
        where matches: @escaping @Sendable (SimulatorRequest) -> Bool = { _ in true }
    ) {
        look { $0.interventions.add(.answer(answer), count: count, where: matches) }
    }

    /// Processes the next `count` matching requests but never answers them, as if the answers were lost.
    package func dropNext(
        _ count: Int = 1, where matches: @escaping @Sendable (SimulatorRequest) -> Bool = { _ in true }
    ) {
        look { $0.interventions.add(.drop, count: count, where: matches) }
    }

    /// Turns an app's Broadcast capability on or off, as in Apple's developer portal. Turning it off deletes all
    /// channels of the app in both environments; they never come back.
    package func setBroadcastCapability(_ isOn: Bool, of bundleID: String) {
        look { $0.apns.setBroadcastCapability(isOn, of: bundleID) }
    }
}
