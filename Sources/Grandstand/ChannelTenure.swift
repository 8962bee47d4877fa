package import APNsWire
package import FoundationEssentials

/// How long an event keeps its channels, and who may take its places after its end. Alignment (`ChannelStore.align`)
/// frees the channels' places at Apple by this rule, and the forecast uses the rule. The SQL of alignment uses the same
/// numbers.
package struct ChannelTenure: Sendable, Hashable {
    /// The least seconds for which a channel is kept after the end of its event.
    package var retireAfter: TimeInterval
    /// Seconds without a message after which an event without `endsAt` is closed.
    package var quietAfter: TimeInterval

    package init(retireAfter: TimeInterval = 14_400, quietAfter: TimeInterval = 172_800) {
        self.retireAfter = retireAfter
        self.quietAfter = quietAfter
    }

    /// Seconds after which an event without an `end` is closed. They count from `endsAt`, or from the last message if
    /// that is later. An activity that starts just before the end is active for eight hours, and then visible for at
    /// most four more (docs/internals/apns.md section 4).
    package static let overdueAfter = TimeInterval(APNsLimits.activityLifetime + APNsLimits.endedActivityLifetime)

    /// An event may take the place of an event that is over if it is live, or starts within this number of seconds. An
    /// event without `startsAt` may, too, because it can start at any time.
    package static let neededBefore: TimeInterval = 3_600
    /// Seconds after its end for which an event keeps its places, unless a live event waits for one. An end that was
    /// sent by mistake can be taken back meanwhile.
    package static let keptAfterEnd: TimeInterval = 600

    /// The declared and actual times of an event.
    package struct Dates: Sendable, Hashable, Decodable {
        package var createdAt: Date
        package var channelsOpenAt: Date?
        package var startsAt: Date?
        package var endsAt: Date?
        /// The latest of these times: when the newest message was accepted, when it was or will be sent, and when the
        /// event was reopened. This value is needed only if the event could be closed without an `end`.
        package var lastMessageAt: Date?
        /// When the event ended or was cancelled.
        package var overAt: Date?
    }

    /// When an event is closed if it gets neither an `end` nor another message. The quiet time does not begin before
    /// the event does.
    package func closesAt(_ dates: Dates) -> Date {
        if let endsAt = dates.endsAt {
            return max(endsAt, dates.lastMessageAt ?? endsAt).addingTimeInterval(Self.overdueAfter)
        }
        let signs = [dates.channelsOpenAt, dates.startsAt, dates.lastMessageAt].compactMap { $0 }
        return signs.reduce(dates.createdAt, max).addingTimeInterval(quietAfter)
    }

    /// When an event's channel frees its place, if its organiser sends an `end` at `endsAt` and nothing unexpected
    /// happens.
    ///
    /// - Parameters:
    ///   - hasAudience: whether the event still has the audience that the channel was created for.
    ///   - neededUntil: the later of two times: the expiry of the last message that APNs may have stored for the
    ///     channel, and the dismissal of the ended activities.
    package func freesAt(
        _ dates: Dates, hasAudience: Bool = true, storagePolicy: StoragePolicy, neededUntil: Date? = nil, now: Date
    ) -> Date {
        var (over, stored) = (dates.overAt ?? now, now)
        if dates.overAt == nil, hasAudience {
            over = max(closesAt(dates), now)
            if let endsAt = dates.endsAt, endsAt > now {
                over = endsAt
                if storagePolicy.stores { stored = endsAt + TimeInterval(APNsLimits.storedMessageLifetime) }
            }
        }
        return max(over + retireAfter, stored, neededUntil ?? now, now)
    }

    /// The place of an event's channel in the forecast. The parameters are those of `freesAt`.
    ///
    /// - Parameter isHeld: whether the channel has its place now.
    package func span(
        _ dates: Dates, hasAudience: Bool = true, isHeld: Bool = false, storagePolicy: StoragePolicy,
        neededUntil: Date? = nil, now: Date
    ) -> Forecast.Stay {
        let ends = [retireAfter, Self.keptAfterEnd].map { seconds in
            ChannelTenure(retireAfter: seconds, quietAfter: quietAfter).freesAt(
                dates, hasAudience: hasAudience, storagePolicy: storagePolicy, neededUntil: neededUntil, now: now)
        }
        return Forecast.Stay(
            opensAt: dates.channelsOpenAt ?? now, closesAt: ends[0], isHeld: isHeld,
            needsAt: (dates.startsAt ?? dates.createdAt).addingTimeInterval(-Self.neededBefore), yieldsAt: ends[1])
    }
}
