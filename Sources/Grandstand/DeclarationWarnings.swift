package import FoundationEssentials
package import GrandstandContract
internal import JSON

/// The side effects of a new declaration on an existing event. Pure. They are not errors: the organiser gets warnings.
package struct DeclarationWarnings: Sendable {
    /// A broadcast that waits for `sendAt`.
    package struct Scheduled: Sendable, Hashable, Decodable {
        package var sendAt: Date
        /// Seconds after `startsAt`; `nil`: the request gave `sendAt` itself.
        package var afterStart: Int?
    }

    /// The times that an event declares.
    package typealias Times = (startsAt: Date?, endsAt: Date?)

    /// The event's times before the declaration; `nil`: the event is new.
    private let before: Times?
    private let after: Times
    private let declaredStart: Contract.StartDraft?
    private let now: Date

    /// - Parameters:
    ///   - before: the event's times before; `nil`: the event is new.
    ///   - after: the times in the declaration, rounded to microseconds like the stored earlier times.
    ///   - start: the member `start` of the declaration; `nil`: there is none.
    package init(from before: Times?, to after: Times, start: Contract.StartDraft? = nil, now: Date) {
        (self.before, self.after, declaredStart, self.now) = (before, after, start, now)
    }

    /// Whether the declaration changes the event's times.
    package var isMoved: Bool { before.map { $0 != after } ?? false }

    /// Whether the event's start was moved into the future. Until the new start the event is not `live`, even if
    /// messages were sent before the change. Only a new update makes the event live earlier.
    package var isPostponed: Bool {
        guard let before, let startsAt = after.startsAt, startsAt > now else { return false }
        return before.startsAt.map { $0 < startsAt } ?? true
    }

    /// Warnings about scheduled broadcasts of an event whose times change.
    ///
    /// - Parameter scheduled: with their times before the change.
    package func moving(_ scheduled: [Scheduled]) -> [String] {
        guard let before, isMoved else { return [] }
        var warnings: [String] = []
        let (own, relative) = (scheduled.filter { $0.afterStart == nil }, scheduled.filter { $0.afterStart != nil })
        let startMoves = before.startsAt != after.startsAt
        if startMoves, let startsAt = before.startsAt, let some = Self.words(own) {
            let moved = after.startsAt.map { "is now \(RFC3339.text($0))" } ?? "is now unset"
            warnings.append(
                "startsAt was \(RFC3339.text(startsAt)) and \(moved). Scheduled messages that keep their times, because they have "
                    + "a sendAt of their own: \(some). A sendAt such as {\"afterStart\": -600} moves with the event.")
        }
        let moved = relative.compactMap { message in
            after.startsAt.map { Scheduled(sendAt: $0.addingTimeInterval(Double(message.afterStart ?? 0))) }
        }
        if startMoves, let some = Self.words(moved.filter { $0.sendAt < now }) {
            warnings.append(
                "Scheduled messages whose time, counted from startsAt, is past: \(some). They are sent at once.")
        }
        if startMoves, after.startsAt == nil, let some = Self.words(relative) {
            warnings.append(
                "startsAt is now unset. Scheduled messages that count from it (\(some)) wait until it is set.")
        }
        if let endsAt = after.endsAt, let some = Self.words((own + moved).filter { $0.sendAt > endsAt }) {
            warnings.append("Scheduled messages after endsAt, \(RFC3339.text(endsAt)): \(some).")
        }
        return warnings
    }

    /// The number of messages and when the first one is sent; `nil`: there are none.
    private static func words(_ messages: [Scheduled]) -> String? {
        messages.map(\.sendAt).min().map { "\(messages.count), the first at \(RFC3339.text($0))" }
    }

    /// A warning about an audience that was removed without an `end`, if it has followers. They get no more messages.
    ///
    /// - Parameters:
    ///   - channelID: Apple's ID of its channel; `nil`: there is no channel.
    ///   - hasTokens: some of its activities have tokens, and no remaining audience of the event reaches them.
    package static func removing(_ audience: Audience.ID, channelID: String?, hasTokens: Bool) -> [String] {
        guard channelID != nil || hasTokens else { return [] }
        let followers = [
            channelID.map { "those that follow its channel \($0)" }, hasTokens ? "those that have tokens" : nil,
        ].compactMap(\.self).joined(separator: " and ")
        return [
            "The audience \(audience.words) is removed without an end: its activities, \(followers), get nothing more and "
                + "stay on lock screens until they are stale, twelve hours at most. Declare it again, as long as its "
                + "channel is kept, and send it an end."
        ]
    }

    /// A warning if the event moves and its start does not, because the start has its own time.
    ///
    /// - Parameter at: the start's time in the declaration before.
    package func keeping(startAt at: Date?) -> [String] {
        guard let before, before.startsAt != after.startsAt, let at,
            declaredStart?.at.map(RFC3339.text) == RFC3339.text(at)
        else { return [] }
        return [
            "startsAt was changed, but cards are still started at \(RFC3339.text(at)), because start has an at of its own. "
                + "Without at, they are started at startsAt."
        ]
    }

    /// Warnings about the times in the member `start` of the declaration.
    package var start: [String] {
        guard let start = declaredStart, let staleDate = start.staleDate else { return [] }
        let window = StartWindow(start, startsAt: after.startsAt, endsAt: after.endsAt)
        let from = max(now, window?.from ?? now)
        guard staleDate <= from else { return [] }
        return [
            "staleDate of start is \(RFC3339.text(staleDate)), which is past when the start is sent, from "
                + "\(RFC3339.text(from)) on: phones show it as out of date at once."
        ]
    }
}
