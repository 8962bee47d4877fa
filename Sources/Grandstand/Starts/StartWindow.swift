package import FoundationEssentials
package import GrandstandContract
internal import JSON

/// The time window in which an event's start is sent.
package struct StartWindow: Sendable, Hashable {
    package var from: Date
    package var until: Date
    /// When the event may be over, the best guess first.
    private let endGuesses: [Date]

    /// - Parameters:
    ///   - askedAt: when somebody asked for the start by hand, instead of waiting for its time.
    ///   - lastMessageAt: when the event got its newest message, or was opened again; `nil`: never.
    /// - Returns: `nil`: neither the declaration nor the event says when the start is sent.
    package init?(
        _ declaration: Contract.StartDraft, startsAt: Date?, endsAt: Date?, askedAt: Date? = nil,
        lastMessageAt: Date? = nil
    ) {
        guard let from = [askedAt, declaration.at ?? startsAt].compactMap(\.self).min() else { return nil }
        self.from = from
        // If a start was requested before its time, its window still ends at the usual time.
        let planned = declaration.at ?? startsAt ?? from
        // A live event may last longer than planned, so its end closes the window and not `endsAt`. This limit is for
        // events of which nobody sends the end: late followers get a start for four hours after the last sign of it.
        let lastSign = [startsAt, endsAt, lastMessageAt].compactMap(\.self).reduce(planned, max)
        let limit = lastSign.addingTimeInterval(14_400)
        until = declaration.until ?? limit
        endGuesses = [endsAt, limit].compactMap(\.self)
    }

    /// When the event is expected to be over. A card that is started now is out of date from then on, unless an update
    /// comes.
    package func eventEnd(at now: Date) -> Date { endGuesses.first { $0 > now } ?? until }

    /// The `apns-expiration` of a push that is sent now: not after the event's expected end (`eventEnd`), because APNs
    /// would start a card of an event that is over. "Kick-off" is no news after fifteen minutes.
    package func expiration(of declaration: Contract.StartDraft, at now: Date) -> Int {
        let latest = min(now.addingTimeInterval(Double(declaration.expiresIn ?? 900)), until, eventEnd(at: now))
        return latest.epoch
    }
}

extension Contract.StartDraft {
    /// Says who gets a card of an event that was moved or opened again, and who gets none.
    ///
    /// - Parameters:
    ///   - started: how many followers got a card, or may have got one.
    ///   - isStopped: whether somebody stopped the start.
    package func outlook(_ window: StartWindow, started: Int, isStopped: Bool, at now: Date) -> String {
        let others =
            if isStopped {
                "none until the start, which is stopped, is sent now"
            } else if window.until <= now {
                "none, because its time was over at \(RFC3339.text(window.until)); a later until or endsAt changes that"
            } else {
                "one\(window.from > now ? " from \(RFC3339.text(window.from)) on" : "") until the event ends, at the "
                    + "latest until \(RFC3339.text(window.until))"
            }
        return "Followers that got this event's card, or may have got it: \(started). They get no other one"
            + (restart ?? false ? " unless its channel is replaced" : ", even if it ended on their phones")
            + "; an event with another key starts one for all. Other followers get \(others)."
    }
}

/// The state of an installation's start; the same words are a Postgres type.
package enum StartRowState: String, Sendable, Hashable, CaseIterable {
    /// The push was not sent yet, or APNs is known not to have processed it.
    case pending
    /// A replica sends the push. If the replica's lease ends without an answer, the start becomes `unknown`.
    case sending
    /// APNs accepted the push with 200. That does not mean that a phone showed it.
    case accepted
    case rejected
    /// No answer came, or the replica that waited for it died. The start is not repeated.
    case unknown

    /// Whether the start is neither pending nor being sent.
    package var isSettled: Bool {
        switch self {
        case .pending, .sending: false
        case .accepted, .rejected, .unknown: true
        }
    }

    /// - Returns: `nil`: the start is sent again.
    package init?(_ verdict: TokenVerdict) {
        switch verdict {
        case .accepted: self = .accepted
        case .rejected, .expired, .gone, .suspect: self = .rejected
        case .unknown: self = .unknown
        case .retry: return nil
        }
    }
}
