package import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// The state of an event's start for one audience: when the start may be sent, and what it waits for. It is computed
/// from the present state of the audience's event, lane and channel. Both senders and reports use it.
package struct StartStanding: Decodable, Sendable {
    package let bundleId: BundleID
    package let environment: APNsEnvironment
    /// The audience's variant as the column has it: empty for an audience without a variant.
    package let variant: String
    package let topics: [String]
    /// The declared start, if it includes this audience; `nil`: the audience has no start.
    package let start: Contract.StartDraft?
    private let startsAt, endsAt, lastMessageAt: Date?
    private var askedAt: Date?
    package private(set) var isStopped: Bool
    package let isEventOver: Bool
    /// The defaults of the event's messages and of its start.
    private let defaults: Contract.EventDefaults?
    private let delivery: Contract.AudienceDelivery
    /// Apple's ID of the audience's active channel.
    private let channel: String?
    /// Whether the audience's channel cannot be created, because the app has no channel left in its limit or at Apple.
    private let lacksRoom: Bool
    private let newest: NewestContent?
    private let lastTimestamp: Int

    /// The next step.
    package struct Step {
        /// Nothing can be sent before this time.
        package var notBefore = Date.distantPast
        /// Why nothing can be sent; `nil`: there are pushes, or the start's window has not begun.
        package var reason: Contract.StartWait?
        /// Those that may be sent now.
        package var pushes: [StartPush] = []
    }

    /// Seconds after which a start that waits for its channel or for a content is looked at again.
    package static let recheckAfter: TimeInterval = 1

    /// The time in which the start is sent.
    package var window: StartWindow? {
        start.flatMap {
            StartWindow($0, startsAt: startsAt, endsAt: endsAt, askedAt: askedAt, lastMessageAt: lastMessageAt)
        }
    }

    /// The same if somebody asks for the start by hand at this time.
    package func ifAsked(at now: Date) -> StartStanding {
        var standing = self
        (standing.askedAt, standing.isStopped) = (askedAt ?? now, false)
        return standing
    }

    /// Whether no more starts are sent, unless somebody resumes the start, moves its times or reopens the event.
    package func isOver(at now: Date) -> Bool { isStopped || isEventOver || window.map { $0.until <= now } ?? false }

    /// The next step; `nil`: no more starts are sent.
    package func step(at now: Date) -> Step? {
        guard !isOver(at: now), let start, let window else { return nil }
        guard window.from <= now else { return Step(notBefore: window.from) }
        let later = now.addingTimeInterval(Self.recheckAfter)
        let channelID = delivery == .tokens ? nil : channel
        guard delivery == .tokens || channelID != nil else {
            return Step(notBefore: later, reason: lacksRoom ? .room : .channel)
        }
        guard
            var payload = start.payload(
                newest: newest, filledBy: defaults ?? .init(), at: now, until: window.eventEnd(at: now))
        else {
            return Step(notBefore: later, reason: .content)
        }
        payload.listen(to: channelID)
        // The push's timestamp is lower than the timestamp of every later update. A push with the newest content gets
        // the second before now, or the content's own timestamp if that is higher. A push with the declared content
        // gets two seconds before now. If a token joins a crowd, `CatchUp` sends it the newest content. Because of
        // the lower timestamp, this content replaces the declared content even in the same second.
        let justNow = now.epoch - 1
        let timestamp = newest == nil ? justNow - 1 : max(lastTimestamp, justNow)
        // If the push is too long, the start waits, because a newer content may be shorter.
        guard payload.size(start.localeAlerts.values, timestamp: timestamp) <= APNsLimits.devicePayload else {
            return Step(notBefore: later, reason: .contentTooLong)
        }
        let push = StartPush(
            variant: variant, payload: payload, alerts: LocaleLookup(start.localeAlerts), contentOf: newest?.broadcast,
            timestamp: timestamp, expiration: window.expiration(of: start, at: now), deadline: window.until,
            attributesType: start.attributesType)
        return Step(pushes: [push])
    }
}

/// The audiences in one app and environment that an event's start is for, in the order of their declaration. Each
/// follower is started on one of those that have a push (`VariantChoice`).
extension [StartStanding] {
    /// The next step, with a push for each audience that is not over; `nil`: no more starts are sent. All audiences wait
    /// for each other, but not for one that lacks room for its channel.
    package func step(at now: Date) -> StartStanding.Step? {
        let steps = compactMap { $0.step(at: now) }
        let pushes = steps.flatMap(\.pushes)
        return steps.first { $0.pushes.isEmpty && (pushes.isEmpty || $0.reason != .room) }
            ?? (steps.isEmpty ? nil : .init(pushes: pushes))
    }

    /// - Parameter isLeft: whether a follower may still get a start.
    package func state(at now: Date, isLeft: Bool) -> (state: Contract.StartState, waitingFor: Contract.StartWait?) {
        if self[0].isStopped { return (.stopped, nil) }
        guard let step = step(at: now) else { return (.done, nil) }
        if step.pushes.isEmpty, step.reason == nil { return (.scheduled, nil) }
        guard isLeft else { return (.done, nil) }
        return (step.reason == nil ? .running : .waiting, step.reason)
    }
}

/// The push that the members of one audience get.
package struct StartPush: Sendable {
    /// The audience's variant as the column has it: empty for an audience without a variant.
    package var variant: String
    /// With the alert for members whose language has no own alert.
    var payload: BroadcastPayload
    /// The alerts by language.
    var alerts: LocaleLookup<[UInt8]>
    /// The broadcast whose content the push shows; `nil`: the push shows the declared content.
    package var contentOf: UUID?
    /// `aps.timestamp`; every later update has a higher timestamp.
    var timestamp: Int
    /// The value of `apns-expiration`.
    var expiration: Int
    /// The end of the time in which the start is sent.
    package var deadline: Date
    package var attributesType: String

    /// The push for members with this system and locale.
    ///
    /// - Parameter run: starts of different events have different collapse IDs, so a phone that is offline gets all of
    ///   them later.
    package func push(hasInput: Bool, locale: String?, run: Int) -> Shard.Push {
        var payload = payload
        if !hasInput { payload.start?.input = nil }
        payload.alert = locale.flatMap(alerts.value) ?? payload.alert
        return Shard.Push(
            body: payload.body(timestamp: timestamp), priority: .immediate, expiration: expiration,
            collapseID: "start-\(run)")
    }
}
