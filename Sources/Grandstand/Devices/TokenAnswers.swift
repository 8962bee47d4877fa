package import FoundationEssentials

/// APNs' recent answers about an app's device tokens, and their effect on the alarm `tokens-refused`. Pure.
///
/// The alarm is raised when at least 20 answers of the last ten minutes are suspect, and a tenth of all. It ends when of
/// at least 20 later answers less than a tenth are. Later is what came after it was raised or last confirmed: refusals
/// that would raise it again confirm it, so a fault that has been mended does not have to be outweighed by an hour of it.
package struct TokenAnswers: Sendable, Hashable {
    /// One minute, as far as it has been counted.
    package struct Minute: Sendable, Hashable {
        package var begins: Date
        package var accepted: Int
        /// `BadDeviceToken` and `DeviceTokenNotForTopic`.
        package var suspect: Int

        package init(begins: Date, accepted: Int, suspect: Int) {
            self.begins = begins
            self.accepted = accepted
            self.suspect = suspect
        }
    }

    /// The last alarm there was.
    package struct Alarm: Sendable, Hashable {
        /// When the first minute with refusals began that it is about.
        package var since: Date
        package var endedAt: Date?
        /// The newest minute when the alarm was raised or last confirmed, as it was counted then.
        package var judged: Minute

        package init(since: Date, endedAt: Date?, judged: Minute) {
            self.since = since
            self.endedAt = endedAt
            self.judged = judged
        }

        /// Whether it stands: not ended, and younger than a day.
        package func stands(at now: Date) -> Bool { endedAt == nil && since > TokenAnswers.oldestAlarm(at: now) }
    }

    package enum Change: Sendable, Hashable {
        /// With the minute in which the refusals begin.
        case raised(since: Date)
        /// It stands already, and the answers since the last judgement would raise it.
        case confirmed
        case ended
    }

    /// The oldest first; answers older than ten minutes do not count.
    package var minutes: [Minute]
    package var alarm: Alarm?

    package init(minutes: [Minute], alarm: Alarm?) {
        self.minutes = minutes
        self.alarm = alarm
    }

    /// The change of the alarm by the answers; `nil`: none.
    package func change(now: Date) -> Change? {
        let later = minutes.filter { $0.begins > Self.windowStart(at: now) }.compactMap(unjudged)
        let suspect = later.reduce(0) { $0 + $1.suspect }
        let total = later.reduce(suspect) { $0 + $1.accepted }
        let isMuch = suspect * Self.share >= total
        guard let alarm, alarm.stands(at: now) else {
            guard suspect >= Self.number, isMuch, let first = later.first(where: { $0.suspect > 0 }) else { return nil }
            return .raised(since: first.begins)
        }
        if suspect >= Self.number, isMuch { return .confirmed }
        return total >= Self.number && !isMuch ? .ended : nil
    }

    /// The answers of a minute that came after the last judgement; `nil` of an earlier one.
    private func unjudged(_ minute: Minute) -> Minute? {
        guard let judged = alarm?.judged else { return minute }
        if minute.begins < judged.begins { return nil }
        guard minute.begins == judged.begins else { return minute }
        return Minute(
            begins: minute.begins, accepted: minute.accepted - judged.accepted,
            suspect: minute.suspect - judged.suspect)
    }

    // MARK: Bounds

    /// So many answers are many.
    private static let number = 20
    /// One of so many is much.
    private static let share = 10

    /// The start of the minute of `moment`.
    package static func minute(of moment: Date) -> Date {
        Date(timeIntervalSince1970: (moment.timeIntervalSince1970 / 60).rounded(.down) * 60)
    }

    /// Minutes that began later are the last ten.
    package static func windowStart(at now: Date) -> Date { minute(of: now).addingTimeInterval(-600) }

    /// An alarm since then or earlier stands no more.
    package static func oldestAlarm(at now: Date) -> Date { now.addingTimeInterval(-86_400) }

    /// Seconds that minutes are kept: an alarm tells of all answers since it began.
    package static let lifetime: TimeInterval = 2 * 86_400
}
