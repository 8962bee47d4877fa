internal import APNsWire
internal import Synchronization

/// Changes of a running simulator's answers by a test. Rules act in the order they were made; the first that matches a
/// request is the one that counts.
extension Simulator {
    /// Withholds the answers of all matching requests until the hold is released. The requests are processed.
    package func hold(where matches: @escaping @Sendable (SimulatorRequest) -> Bool = { _ in true }) -> Hold {
        let hold = Hold()
        look { $0.interventions.add(.hold(hold), count: nil, where: matches) }
        return hold
    }

    /// Answers the next `count` matching requests in APNs' place; they change nothing. `apns-request-id` is added,
    /// or `apns-id` on a device's path.
    package func answerNext(
        _ count: Int = 1, with answer: SimulatorAnswer,
        where matches: @escaping @Sendable (SimulatorRequest) -> Bool = { _ in true }
    ) {
        look { $0.interventions.add(.answer(answer), count: count, where: matches) }
    }

    /// Processes the next `count` matching requests and never answers them: the answer is lost on its way.
    package func dropNext(
        _ count: Int = 1, where matches: @escaping @Sendable (SimulatorRequest) -> Bool = { _ in true }
    ) {
        look { $0.interventions.add(.drop, count: count, where: matches) }
    }

    /// Turns the Broadcast capability of an app on or off, as in Apple's developer portal. Off deletes every channel
    /// of the app in both environments, irreversibly.
    package func setBroadcastCapability(_ isOn: Bool, of bundleID: String) {
        look { $0.apns.setBroadcastCapability(isOn, of: bundleID) }
    }
}
