package import FoundationEssentials
internal import JSON

/// What a declaration of an event does to what was there before: pure. Nothing of it is refused; its organiser is told.
package struct DeclarationWarnings: Sendable {
    /// A broadcast that waits for its `sendAt`.
    package struct Scheduled: Sendable, Hashable {
        package var sendAt: Date
        /// Seconds after `startsAt`; `nil`: `sendAt` was given itself.
        package var afterStart: Int?

        package init(sendAt: Date, afterStart: Int? = nil) {
            self.sendAt = sendAt
            self.afterStart = afterStart
        }
    }

    /// An audience that the event has no more, and that got no end.
    package struct Removed: Sendable, Hashable {
        package var audience: Audience.ID
        /// Apple's ID of its channel; `nil`: it has none.
        package var channelID: String?
        /// Activities of it have tokens, and no other audience of the event reaches them.
        package var hasTokens: Bool

        package init(audience: Audience.ID, channelID: String?, hasTokens: Bool) {
            self.audience = audience
            self.channelID = channelID
            self.hasTokens = hasTokens
        }
    }

    /// The times that the event has now.
    package let after: EventTimes
    private let declaredStart: StartDeclaration?
    private let now: Date

    /// - Parameters:
    ///   - after: the times that the event is declared with, as precise as those from before.
    ///   - start: the start that it is declared with.
    package init(_ after: EventTimes, start: StartDeclaration? = nil, now: Date) {
        self.after = after
        declaredStart = start
        self.now = now
    }

    /// Whether the event begins anew: its start was moved into the future. It is not `live` until then, whatever was sent
    /// before, unless an update comes first.
    package func isPostponed(from before: EventTimes) -> Bool {
        guard let startsAt = after.startsAt, startsAt > now else { return false }
        return before.startsAt.map { $0 < startsAt } ?? true
    }

    /// Warnings about broadcasts that wait for their time while their event moves.
    ///
    /// - Parameter scheduled: in order of their times, which are those from before.
    package func moving(_ scheduled: [Scheduled], from before: EventTimes) -> [String] {
        guard before != after else { return [] }
        var warnings: [String] = []
        let own = scheduled.filter { $0.afterStart == nil }
        if let startsAt = before.startsAt, before.startsAt != after.startsAt, let some = Self.words(own) {
            let moved = after.startsAt.map { "is now \(RFC3339.text($0))" } ?? "is now unset"
            warnings.append(
                "startsAt was \(RFC3339.text(startsAt)) and \(moved). Scheduled messages that keep their times, because they have "
                    + "a sendAt of their own: \(some). A sendAt such as {\"afterStart\": -600} moves with the event.")
        }
        let relative = scheduled.filter { $0.afterStart != nil }
        var moved = scheduled
        if let startsAt = after.startsAt {
            moved = scheduled.map { message in
                var message = message
                if let seconds = message.afterStart { message.sendAt = startsAt.addingTimeInterval(Double(seconds)) }
                return message
            }.sorted { $0.sendAt < $1.sendAt }
            if before.startsAt != after.startsAt,
                let some = Self.words(moved.filter { $0.afterStart != nil && $0.sendAt < now })
            {
                warnings.append(
                    "Scheduled messages whose time, counted from startsAt, is past: \(some). They are sent at once.")
            }
        } else if let some = Self.words(relative) {
            warnings.append(
                "startsAt is now unset. Scheduled messages that count from it keep their times: \(some)."
            )
        }
        if let endsAt = after.endsAt, let some = Self.words(moved.filter { $0.sendAt > endsAt }) {
            warnings.append("Scheduled messages after endsAt, \(RFC3339.text(endsAt)): \(some).")
        }
        return warnings
    }

    /// How many, and when the first goes; `nil`: none.
    private static func words(_ messages: [Scheduled]) -> String? {
        messages.first.map { "\(messages.count), the first at \(RFC3339.text($0.sendAt))" }
    }

    /// Warnings about audiences whose followers are left alone.
    package static func removing(_ audiences: [Removed]) -> [String] {
        audiences.filter { $0.channelID != nil || $0.hasTokens }.map { removed in
            let followers = [
                removed.channelID.map { "those that follow its channel \($0)" },
                removed.hasTokens ? "those that have tokens" : nil,
            ].compactMap(\.self).joined(separator: " and ")
            return
                "The audience \(removed.audience.words) is removed without an end: its activities, \(followers), get "
                + "nothing more and stay on lock screens until they are stale, twelve hours at most. Declare it again, as "
                + "long as its channel is kept, and send it an end."
        }
    }

    /// A warning about the start's own times.
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
