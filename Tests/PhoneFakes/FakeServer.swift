package import Foundation
package import GrandstandClient
package import GrandstandLiveActivities
internal import Synchronization

/// A server for one app, in memory, with the rules of the real one. The test decides what the network does with each
/// request.
package final class FakeServer: DeviceServer {
    /// An installation as the server has it.
    package struct Installation: Sendable, Equatable {
        package var secret: String
        package var facts: InstallationFacts
        package var activities: [String: DeviceActivity] = [:]
    }

    /// What becomes of a request on its way.
    package enum Fate: Sendable {
        case arrives
        /// The request does not arrive.
        case lost
        /// The request arrives, but its answer does not.
        case answerLost
        /// The request arrives twice.
        case doubled
        /// The phone gives up. The request arrives after this many later requests.
        case late(Int)
        /// The server, or a proxy before it, refuses the request.
        case refused(ServerProblem)
    }

    private struct State {
        var installations: [String: Installation] = [:]
        var underWay: [(after: Int, request: DeviceRequest, identity: InstallationIdentity)] = []
        var requests: [DeviceRequest] = []
        var lookups: [String] = []
        var fate: @Sendable (Int, DeviceRequest) -> Fate = { _, _ in .arrives }
        var answers: [String: LookupOutcome] = [:]
    }

    private let state = Mutex(State())

    /// Every request that a phone made, whatever became of it.
    package var requests: [DeviceRequest] { state.withLock { $0.requests } }
    package var lookups: [String] { state.withLock { $0.lookups } }
    package var installations: [String: Installation] { state.withLock { $0.installations } }

    /// Sets what happens to requests from now on.
    package func setFate(_ fate: @escaping @Sendable (Int, DeviceRequest) -> Fate) { state.withLock { $0.fate = fate } }
    package func setLookup(_ key: String, _ outcome: LookupOutcome) { state.withLock { $0.answers[key] = outcome } }
    /// Forgets all installations, as the server does with those that it has not heard of for a long time. Requests that
    /// are under way are dropped.
    package func prune() {
        state.withLock { state in
            state.installations = [:]
            state.underWay = []
        }
    }

    /// Everything that is still under way arrives, the last first.
    package func deliverAll() {
        state.withLock { state in
            let late = state.underWay.reversed()
            state.underWay = []
            for (_, request, identity) in late { _ = Self.take(request, identity, &state) }
        }
    }

    package func perform(_ request: DeviceRequest, as identity: InstallationIdentity) async throws -> Bool {
        try state.withLock { state in
            let fate = state.fate(state.requests.count, request)
            state.requests.append(request)
            defer { Self.passOne(&state) }
            switch fate {
            case .arrives: return try Self.take(request, identity, &state).get()
            case .lost: throw NoAnswer()
            case .answerLost:
                _ = Self.take(request, identity, &state)
                throw NoAnswer()
            case .doubled:
                let outcome = Self.take(request, identity, &state)
                _ = Self.take(request, identity, &state)
                return try outcome.get()
            case .late(let after):
                state.underWay.append((after, request, identity))
                throw NoAnswer()
            case .refused(let refusal): throw refusal
            }
        }
    }

    private static func passOne(_ state: inout State) {
        for index in state.underWay.indices { state.underWay[index].after -= 1 }
        let due = state.underWay.filter { $0.after < 0 }
        state.underWay.removeAll { $0.after < 0 }
        for (_, request, identity) in due { _ = take(request, identity, &state) }
    }

    package func lookup(_ eventKey: String, variant: String?) async throws -> Lookup {
        try state.withLock { state in
            let name = variant.map { "\(eventKey) \($0)" } ?? eventKey
            state.lookups.append(name)
            return try state.answers[name, default: .failure(ServerProblem.device(404, "event-not-found"))].get()
        }
    }

    private static func take(
        _ request: DeviceRequest, _ identity: InstallationIdentity, _ state: inout State
    ) -> Result<Bool, any Error> {
        let id = identity.installationId
        let known = state.installations[id]
        if let known, known.secret != identity.secret {
            return .failure(ServerProblem.device(403, "wrong-installation-secret"))
        }
        switch request {
        case .register(let facts):
            if let sequence = known?.facts.sequence, sequence > facts.sequence ?? 0 {
                return .failure(ServerProblem.device(409, "stale-installation", sequence: sequence))
            }
            state.installations[id, default: Installation(secret: identity.secret, facts: facts)].facts = facts
            return .success(known == nil)
        case .report(let activity):
            guard known != nil else { return .failure(ServerProblem.device(404, "installation-not-found")) }
            state.installations[id]?.activities[activity.id] = activity
        case .forget: state.installations[id] = nil
        }
        return .success(false)
    }
}

/// No answer came, whatever became of the request.
package struct NoAnswer: Error {
    package init() {}
}

package typealias LookupOutcome = Result<Lookup, any Error>

extension LookupOutcome {
    /// The lookup of an event. Without a channel, its activities are updated by token.
    package static func found(
        channelID: String?, contentState: Data? = nil, variant: String? = nil, variants: [String] = []
    ) -> Self {
        .success(
            Lookup(
                eventKey: "derby", channelId: channelID, variant: variant, variants: variants,
                storagePolicy: .noMessageStored, state: .live,
                contentState: contentState.flatMap { try? RawJSON(json: $0) }))
    }

}

extension ServerProblem {
    /// A problem with these members only. Its title is its slug.
    package static func device(
        _ status: Int, _ slug: String, sequence: Int? = nil, contentState: Data? = nil, retryAfter: Int? = nil
    ) -> ServerProblem {
        ServerProblem(
            Contract.Problem(
                type: slug.isEmpty ? "" : "https://grandstand.dev/problems/\(slug)", title: slug, status: status,
                detail: "", sequence: sequence, contentState: contentState.flatMap { try? RawJSON(json: $0) }),
            retryAfter: retryAfter)
    }
}
