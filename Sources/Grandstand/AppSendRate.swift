package import FoundationEssentials

/// What APNs' 429s say of one app and environment, of broadcasts or of pushes to devices: a limit of the app, or of
/// single lanes.
///
/// A lane's 429 is its own when the lane was throttled before and the app's other lanes were accepted in between; while
/// the app has a limit, when that happens about three times in a row. The app's limit begins when several lanes are
/// throttled at about the same time.
package struct AppSendRate: Sendable {
    /// The APIs of APNs, which have limits of their own.
    package enum API: String, Sendable, Hashable, CaseIterable {
        case broadcast
        /// Pushes to device tokens: starts, crowds and single pushes. There a 429 may be of one token.
        case device

        /// Lanes, or tokens, that must be throttled at about the same time.
        var lanes: Int { self == .broadcast ? 2 : 10 }
        /// The least part of the answers that are 429 then.
        var share: Double { self == .broadcast ? 0.05 : 0.5 }
    }

    /// A lane that was throttled, and what the app's lanes had by then.
    private struct Throttled: Sendable {
        var at: Date
        var accepted: Int
        var refused: Int
        /// The lane's own since then.
        var ownAccepted = 0
        /// How much speaks for a limit of the lane, by this 429 and those before it.
        var evidence = 1.0
        /// `nil`: it may have been the app's limit.
        var rate: SendRate?
    }

    private let api: API
    /// The app's.
    package var rate = SendRate(.app)
    private var lanes: [Int: Throttled] = [:]
    /// Lanes whose 429 was not their own, of late.
    private var recent: [(lane: Int, at: Date)] = []
    private var accepted = 0
    private var refused = 0

    /// Seconds in which 429s are at about the same time.
    private static let moment: TimeInterval = 3
    /// Seconds after which a lane's 429 has nothing to do with the one before.
    private static let lanePatience: TimeInterval = 30
    /// Others that must be accepted between a lane's 429s, and how many of them for each that is refused.
    private static let witnesses = 10
    private static let mostLanes = 1_000
    /// 429s in a row after which it is a lane's own limit, though the app has one; and evidence with which it may be
    /// either's, and lowers neither.
    private static let enoughEvidence = 3.0
    private static let doubt = 1.5

    package init(_ api: API) { self.api = api }

    /// APNs accepted a request of this lane.
    package mutating func accepted(lane: Int, sentAt: Date, at now: Date) {
        accepted += 1
        rate.accepted(sentAt: sentAt, at: now)
        guard !lanes.isEmpty, lanes[lane] != nil else { return }
        lanes[lane]?.ownAccepted += 1
        lanes[lane]?.rate?.spend(1, at: now)
        lanes[lane]?.rate?.accepted(sentAt: sentAt, at: now)
    }

    /// APNs answered 429 to a request of this lane.
    package mutating func throttled(lane: Int, retryAfter: Int? = nil, sentAt: Date, at now: Date) {
        let before = lanes[lane].flatMap { before in
            now.timeIntervalSince(before.at) < (before.rate == nil ? Self.lanePatience : SendRate.memory) ? before : nil
        }
        let isSuspect = before.map { isOfLane($0) } ?? false
        // Under a limit of the app any lane meets a 429 now and then, and two by chance.
        let evidence = isSuspect ? before.map { self.evidence($0) } ?? 1 : 1
        let isOwn = isSuspect && (!rate.isLimited || before?.rate != nil || evidence >= Self.enoughEvidence)
        let isOfApp = !isOwn && evidence < Self.doubt
        var own = before?.rate
        if isOwn {
            own = own ?? before.map { SendRate(.lane, accepted: $0.ownAccepted, since: $0.at, at: now) }
            own?.throttled(retryAfter: retryAfter, sentAt: sentAt, at: now)
        } else if isOfApp {
            refused += 1
            recent.removeAll { now.timeIntervalSince($0.at) > Self.moment }
            if recent.count < Self.mostLanes { recent.append((lane, now)) }
        }
        if let before, !isOwn, !hasWitnesses(before) {
            // Others must be accepted first: until then both 429s count as one.
            lanes[lane]?.at = now
        } else {
            lanes[lane] = Throttled(at: now, accepted: accepted, refused: refused, evidence: evidence, rate: own)
        }
        if lanes.count > Self.mostLanes {
            lanes = lanes.filter { now.timeIntervalSince($0.value.at) < Self.lanePatience }
        }
        guard isOfApp, rate.isLimited || isLimitOfApp(at: now) else { return }
        let wasLimited = rate.isLimited
        rate.throttled(retryAfter: retryAfter, sentAt: sentAt, at: now)
        // What was taken for a lane's own while the limit began was the app's.
        if !wasLimited { lanes = [:] }
    }

    /// When the lane may send next because of its own limit; `nil`: it has none.
    package func notBefore(lane: Int, at now: Date) -> Date? {
        guard !lanes.isEmpty, var rate = lanes[lane]?.rate else { return nil }
        rate.forget(at: now)
        guard let next = rate.nextToken(at: now), next > now else { return nil }
        return next
    }

    private func others(since before: Throttled) -> Int { accepted - before.accepted - before.ownAccepted }

    private func hasWitnesses(_ before: Throttled) -> Bool { others(since: before) >= Self.witnesses }

    /// With another 429 of the lane: each is worth four answers that it was accepted.
    private func evidence(_ before: Throttled) -> Double {
        max(0, before.evidence - Double(before.ownAccepted) / 4) + 1
    }

    private func isOfLane(_ before: Throttled) -> Bool {
        let others = others(since: before)
        let refusals = refused - before.refused
        return others == 0 && refusals == 0
            || hasWitnesses(before) && refusals * Self.witnesses <= others
    }

    private mutating func isLimitOfApp(at now: Date) -> Bool {
        guard Set(recent.map(\.lane)).count >= api.lanes else { return false }
        let lately = recent.count { now.timeIntervalSince($0.at) <= SendRate.Settings.app.window }
        return Double(lately) >= api.share * Double(lately + rate.acceptedLately(at: now))
    }
}
