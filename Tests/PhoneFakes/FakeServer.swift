package import Foundation
package import GrandstandClient
package import GrandstandLiveActivities
internal import Synchronization

/// A server for one app, in memory, with the rules of the real one.
package final class FakeServer: DeviceAPI {
    /// An installation as the server has it.
    package struct Installation: Sendable, Equatable {
        package var secret: String
        package var facts: InstallationFacts
        package var activities: [String: DeviceActivity] = [:]
    }

    private let known = Mutex<[String: Installation]>([:])
    private let answers = Mutex<[String: LookupOutcome]>([:])

    package init() {}

    package var installations: [String: Installation] { known.withLock { $0 } }

    package func setLookup(_ key: String, _ outcome: LookupOutcome) { answers.withLock { $0[key] = outcome } }

    /// Forgets all installations, as the server does with those that it has not heard of for a long time.
    package func prune() { known.withLock { $0 = [:] } }

    package func perform(_ request: DeviceRequest, as identity: InstallationIdentity) async throws -> Bool {
        let id = identity.installationId
        return try known.withLock { installations in
            let known = installations[id]
            if let known, known.secret != identity.secret {
                throw ServerProblem.device(403, "wrong-installation-secret")
            }
            switch request {
            case .register(let facts):
                if let sequence = known?.facts.sequence, sequence > facts.sequence ?? 0 {
                    throw ServerProblem.device(409, "stale-installation", sequence: sequence)
                }
                installations[id, default: Installation(secret: identity.secret, facts: facts)].facts = facts
                return known == nil
            case .report(let activity):
                guard known != nil else { throw ServerProblem.device(404, "installation-not-found") }
                installations[id]?.activities[activity.id] = activity
            case .forget: installations[id] = nil
            }
            return false
        }
    }

    package func lookup(_ eventKey: String, variant: String?) async throws -> Lookup {
        let name = variant.map { "\(eventKey) \($0)" } ?? eventKey
        return try answers.withLock { $0[name, default: .failure(ServerProblem.device(404, "event-not-found"))] }.get()
    }
}

/// A network between a phone and a server. The test decides what becomes of each request.
package final class FakeNetwork: DeviceAPI {
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
        var underWay: [(after: Int, request: DeviceRequest, identity: InstallationIdentity)] = []
        var requests: [DeviceRequest] = []
        var lookups: [String] = []
        var fate: @Sendable (Int, DeviceRequest) -> Fate = { _, _ in .arrives }
        var disturbed = 0
    }

    private let server: any DeviceAPI
    private let state = Mutex(State())

    package init(to server: any DeviceAPI) { self.server = server }

    /// Every request that the phone made, whatever became of it.
    package var requests: [DeviceRequest] { state.withLock { $0.requests } }
    package var lookups: [String] { state.withLock { $0.lookups } }
    /// How many requests did not simply arrive.
    package var disturbed: Int { state.withLock { $0.disturbed } }

    /// Sets what happens to requests, which have numbers, from now on. Lookups always arrive.
    package func setFate(_ fate: @escaping @Sendable (Int, DeviceRequest) -> Fate) { state.withLock { $0.fate = fate } }

    /// Drops what is still under way.
    package func drop() { state.withLock { $0.underWay = [] } }

    package func perform(_ request: DeviceRequest, as identity: InstallationIdentity) async throws -> Bool {
        let fate = state.withLock { state in
            defer { state.requests.append(request) }
            let fate = state.fate(state.requests.count, request)
            if case .arrives = fate {} else { state.disturbed += 1 }
            return fate
        }
        var answer: Result<Bool, any Error> = .failure(NoAnswer())
        switch fate {
        case .arrives: answer = await arrival(of: request, identity)
        case .lost: break
        case .answerLost: _ = await arrival(of: request, identity)
        case .doubled:
            answer = await arrival(of: request, identity)
            _ = await arrival(of: request, identity)
        case .late(let after): state.withLock { $0.underWay.append((after, request, identity)) }
        case .refused(let refusal): answer = .failure(refusal)
        }
        let due = state.withLock { state in
            for index in state.underWay.indices { state.underWay[index].after -= 1 }
            defer { state.underWay.removeAll { $0.after < 0 } }
            return state.underWay.filter { $0.after < 0 }
        }
        for (_, request, identity) in due { _ = await arrival(of: request, identity) }
        return try answer.get()
    }

    private func arrival(of request: DeviceRequest, _ identity: InstallationIdentity) async -> Result<Bool, any Error> {
        do { return .success(try await server.perform(request, as: identity)) } catch { return .failure(error) }
    }

    package func lookup(_ eventKey: String, variant: String?) async throws -> Lookup {
        state.withLock { $0.lookups.append(variant.map { "\(eventKey) \($0)" } ?? eventKey) }
        return try await server.lookup(eventKey, variant: variant)
    }
}

extension FakeNetwork {
    /// What people, the system and this network do to a phone while apps are killed at any time: random numbers from
    /// the seed decide. In the end the network is calm.
    ///
    /// - Parameters:
    ///   - relaunch: what else happens between two launches; it may forget the phone.
    ///   - isKnown: whether the server knows the phone.
    /// - Returns: the events whose activity was wished for, and the app's last status.
    package func storm(
        _ phone: Phone, seed: UInt64, steps: Int, relaunch: (inout Random) -> Void = { _ in },
        isKnown: () -> Bool = { true }
    ) async throws -> (wished: Set<String>, status: LiveActivitiesStatus) {
        setFate { number, _ in Self.fate(seed, number) }
        var random = Random(seed: seed)
        var app = await phone.launch(server: self)
        var wished: Set<String> = []
        for _ in 0..<steps {
            switch random.next(below: 9) {
            case 0, 1: try await app.follow(["team:\(random.next(below: 12))"])
            case 2: try await app.unfollow(["team:\(random.next(below: 12))"])
            case 3:
                let token = "\(100_000 + random.next(below: 800_000))\(100_000 + seed)"
                phone.host.change { $0.facts.tokens["MatchAttributes"] = token }
                phone.host.tell(.startToken(type: "MatchAttributes", token: token))
            case 4:
                let (live, frequent) = (random.next(below: 4) > 0, random.next(below: 2) == 0)
                phone.host.change {
                    $0.facts.liveActivitiesEnabled = live
                    $0.facts.frequentPushesEnabled = frequent
                }
                phone.host.tell(.changed)
            case 5:
                let key = ["derby", "final"][random.next(below: 2)]
                if (try? await app.show(Phone.match(key))) != nil { wished.insert(key) }
            case 6: await app.flush()
            case 7: await app.refresh()
            default:
                await app.stop()
                relaunch(&random)
                app = await phone.launch(server: self)
            }
        }
        // From now on all requests arrive. The delayed ones arrive in the wrong order.
        setFate { _, _ in .arrives }
        await app.flush()
        let late = state.withLock(\.underWay)
        drop()
        for (_, request, identity) in late.reversed() { _ = await arrival(of: request, identity) }
        phone.host.change { $0.facts.liveActivitiesEnabled = true }
        await app.refresh()
        // If the server has forgotten the phone, the phone registers again. This takes at most a minute of the phone's
        // clock.
        while !isKnown() { await Task.yield() }
        let status = await app.wait { $0.phase == .upToDate && $0.waitingFor.isEmpty }
        await app.stop()
        return (wished, status)
    }

    private static func fate(_ seed: UInt64, _ number: Int) -> Fate {
        var random = Random(seed: seed &* 1_000_003 &+ UInt64(number))
        switch random.next(below: 10) {
        case 0, 1: return .lost
        case 2: return .answerLost
        case 3: return .doubled
        case 4, 5: return .late(random.next(below: 5))
        case 6: return .refused(.device(503, "store-unavailable", retryAfter: 2))
        default: return .arrives
        }
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
