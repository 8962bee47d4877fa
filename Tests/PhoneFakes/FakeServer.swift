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
        package var sequence: Int
        package var facts: InstallationFacts
        package var activities: [String: ActivityEntry] = [:]

        package init(secret: String, sequence: Int, facts: InstallationFacts) {
            self.secret = secret
            self.sequence = sequence
            self.facts = facts
        }
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
        var installations: [UUID: Installation] = [:]
        var underWay: [(after: Int, request: DeviceRequest, credential: InstallationCredential)] = []
        var requests: [DeviceRequest] = []
        var lookups: [String] = []
        var fate: @Sendable (Int, DeviceRequest) -> Fate = { _, _ in .arrives }
        var answers: [String: LookupOutcome] = [:]
    }

    private let state = Mutex(State())

    /// Every request that a phone made, whatever became of it.
    package var requests: [DeviceRequest] { state.withLock { $0.requests } }
    package var lookups: [String] { state.withLock { $0.lookups } }
    package var installations: [UUID: Installation] { state.withLock { $0.installations } }

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

    /// Stores an installation as if somebody else had registered it.
    package func put(_ id: UUID, _ installation: Installation) {
        state.withLock { $0.installations[id] = installation }
    }

    /// Everything that is still under way arrives, the last first.
    package func deliverAll() {
        state.withLock { state in
            let late = state.underWay.reversed()
            state.underWay = []
            for (_, request, credential) in late { _ = Self.take(request, credential, &state) }
        }
    }

    package func perform(_ request: DeviceRequest, as credential: InstallationCredential) async -> DeviceOutcome {
        state.withLock { state in
            let fate = state.fate(state.requests.count, request)
            state.requests.append(request)
            defer { Self.passOne(&state) }
            switch fate {
            case .arrives: return Self.take(request, credential, &state)
            case .lost: return .unanswered("lost")
            case .answerLost:
                _ = Self.take(request, credential, &state)
                return .unanswered("unheard")
            case .doubled:
                let outcome = Self.take(request, credential, &state)
                _ = Self.take(request, credential, &state)
                return outcome
            case .late(let after):
                state.underWay.append((after, request, credential))
                return .unanswered("late")
            case .refused(let refusal): return .refused(refusal)
            }
        }
    }

    private static func passOne(_ state: inout State) {
        for index in state.underWay.indices { state.underWay[index].after -= 1 }
        let due = state.underWay.filter { $0.after < 0 }
        state.underWay.removeAll { $0.after < 0 }
        for (_, request, credential) in due { _ = take(request, credential, &state) }
    }

    package func lookup(_ eventKey: String, variant: String?) async -> LookupOutcome {
        state.withLock { state in
            let name = variant.map { "\(eventKey) \($0)" } ?? eventKey
            state.lookups.append(name)
            return state.answers[name] ?? .refused(.device(404, "event-not-found"))
        }
    }

    private static func take(
        _ request: DeviceRequest, _ credential: InstallationCredential, _ state: inout State
    ) -> DeviceOutcome {
        let id = credential.installation
        if let known = state.installations[id], known.secret != credential.secret {
            return refusal(403, "wrong-installation-secret")
        }
        switch request {
        case .register(let sequence, let facts):
            guard let known = state.installations[id] else {
                state.installations[id] = Installation(secret: credential.secret, sequence: sequence, facts: facts)
                return .accepted(isNew: true)
            }
            if sequence < known.sequence { return refusal(409, "stale-installation", sequence: known.sequence) }
            state.installations[id]?.sequence = sequence
            state.installations[id]?.facts = facts
            return .accepted(isNew: false)
        case .report(let activity, let entry):
            guard state.installations[id] != nil else { return refusal(404, "installation-not-found") }
            state.installations[id]?.activities[activity] = entry
            return .accepted(isNew: false)
        case .forget:
            state.installations[id] = nil
            return .accepted(isNew: false)
        }
    }

    private static func refusal(_ status: Int, _ slug: String, sequence: Int? = nil) -> DeviceOutcome {
        .refused(.device(status, slug, sequence: sequence))
    }
}

extension ServerProblem {
    /// A problem with these members only. Its title is its slug.
    package static func device(
        _ status: Int, _ slug: String, sequence: Int? = nil, contentState: Data? = nil, retryAfter: Int? = nil
    ) -> ServerProblem {
        ServerProblem(
            status: status, slug: slug, title: slug, sequence: sequence, contentState: contentState,
            retryAfter: retryAfter)
    }
}
