package import APNsWire
package import FoundationEssentials

/// How long an event holds its channels. Alignment frees places by this rule and the forecast is made of it; the SQL of
/// alignment shares its numbers.
package struct ChannelTenure: Sendable, Hashable {
    /// Seconds a channel is kept at least after its event was over.
    package var retireAfter: TimeInterval
    /// Seconds without a message after which an event without `endsAt` is over.
    package var quietAfter: TimeInterval

    package init(retireAfter: TimeInterval = 14_400, quietAfter: TimeInterval = 172_800) {
        self.retireAfter = retireAfter
        self.quietAfter = quietAfter
    }

    /// Seconds after `endsAt`, or the last message when that comes later, after which an event that got no `end` is
    /// over: an activity started just before the end is active for eight hours and shown for four more at most
    /// (docs/internals/apns.md section 4).
    package static let overdueAfter = TimeInterval(APNsLimits.activityLifetime + APNsLimits.endedActivityLifetime)

    /// The times of an event, declared and real.
    package struct Course: Sendable, Hashable {
        package var createdAt: Date
        package var channelsOpenAt: Date?
        package var startsAt: Date?
        package var endsAt: Date?
        /// When its newest message was accepted, was sent, or will be, or when it was opened again; asked for only once
        /// the event could be closed without an `end`.
        package var lastMessageAt: Date?
        /// When it ended or was cancelled.
        package var overAt: Date?

        package init(
            createdAt: Date, channelsOpenAt: Date? = nil, startsAt: Date? = nil, endsAt: Date? = nil,
            lastMessageAt: Date? = nil, overAt: Date? = nil
        ) {
            self.createdAt = createdAt
            self.channelsOpenAt = channelsOpenAt
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.lastMessageAt = lastMessageAt
            self.overAt = overAt
        }
    }

    /// When an event that gets neither an `end` nor another message is closed. One that has not begun is not quiet.
    package func closes(_ course: Course) -> Date {
        if let endsAt = course.endsAt {
            return max(endsAt, course.lastMessageAt ?? endsAt).addingTimeInterval(Self.overdueAfter)
        }
        let signs = [course.channelsOpenAt, course.startsAt, course.lastMessageAt].compactMap { $0 }
        return signs.reduce(course.createdAt, max).addingTimeInterval(quietAfter)
    }

    /// When an event that holds a channel still should not have needed it any more: its `end` was to come, or its
    /// channel to be deleted.
    ///
    /// - Parameter retireAt: until when the channel of an event that is over is kept; `nil`: its retirement has not
    ///   begun.
    package func overdueSince(_ course: Course, retireAt: Date? = nil) -> Date? {
        course.overAt == nil ? course.endsAt ?? closes(course) : retireAt
    }

    /// When a channel of an event gives its place back, if its organiser sends an `end` at `endsAt` and nothing
    /// unforeseen happens.
    ///
    /// - Parameters:
    ///   - hasAudience: whether the event still has the audience that the channel was made for.
    ///   - neededUntil: when the last message APNs stores for it, or may store yet, expires, or what ended is
    ///   dismissed.
    package func frees(
        _ course: Course, hasAudience: Bool = true, storagePolicy: StoragePolicy, neededUntil: Date? = nil, now: Date
    ) -> Date {
        var frees = [now]
        if let neededUntil { frees.append(neededUntil) }
        if let overAt = course.overAt {
            frees.append(overAt.addingTimeInterval(retireAfter))
        } else if !hasAudience {
            frees.append(now.addingTimeInterval(retireAfter))
        } else if let endsAt = course.endsAt, endsAt > now {
            frees.append(endsAt.addingTimeInterval(retireAfter))
            if storagePolicy == .mostRecentMessageStored {
                frees.append(endsAt.addingTimeInterval(TimeInterval(APNsLimits.storedMessageLifetime)))
            }
        } else {
            frees.append(max(closes(course), now).addingTimeInterval(retireAfter))
        }
        return frees.reduce(now, max)
    }
}
