internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The consequences of APNs' answers for tokens. A token that is gone is removed; a suspect token is not used until its
/// app registers it again. A token is removed or marked only if the owner still has the token that the push was sent
/// to.
struct TokenCare {
    /// Where tokens are kept.
    enum Place {
        /// `start_tokens` of this type of attributes; the owner is an installation.
        case starts(attributesType: String)
        /// `activities`; the owner is an activity.
        case activities
    }

    /// A push and its outcome.
    struct Answer {
        /// The number of the installation's or activity's row.
        let owner: Int
        let token: DeviceToken
        let sentAt: Date
        let verdict: TokenVerdict
    }

    private struct Refused {
        let answer: Answer
        /// A token that was registered after this time is not affected, because it may be good.
        let before: Date
        let reason: String
    }

    private var gone: [Refused] = []
    private var suspect: [Refused] = []

    init(_ answers: some Sequence<Answer>) {
        for answer in answers {
            switch answer.verdict {
            case .gone(let reason, let since):
                gone.append(Refused(answer: answer, before: since ?? answer.sentAt, reason: reason))
            case .suspect(let reason):
                suspect.append(Refused(answer: answer, before: answer.sentAt, reason: reason))
            case .accepted, .retry, .unknown, .rejected, .expired: break
            }
        }
        gone.sort { $0.answer.owner < $1.answer.owner }
        suspect.sort { $0.answer.owner < $1.answer.owner }
    }

    /// The statements that remove or mark tokens, for the transaction that records the verdicts. A registration locks
    /// tokens before it queues for a start. So in the transaction, these statements come before any statement that
    /// queues.
    ///
    /// - Parameter others: activities that the transaction changes as well.
    func pruning(_ place: Place, besides others: [Int] = [], now: Date) -> [PostgresQuery] {
        var statements: [PostgresQuery] = []
        if case .activities = place, !(gone.isEmpty && suspect.isEmpty && others.isEmpty) {
            statements.append(lockActivities(others))
        }
        if !gone.isEmpty { statements.append(Self.removal(gone, place)) }
        if !suspect.isEmpty { statements.append(Self.suspicion(suspect, place, now: now)) }
        return statements
    }

    /// Locks activities in order of their numbers, as reports do (`ActivityReportTransaction`). An update alone would
    /// lock its rows in the order of its plan.
    private func lockActivities(_ others: [Int]) -> PostgresQuery {
        let ids = Set((gone + suspect).map(\.answer.owner) + others).sorted()
        return "select from activities where id = any(\(ids)) order by id for no key update"
    }

    /// The refused tokens as rows `r`. `isSame` is the condition that a row `t` still has the token that was sent.
    private static func rows(_ refused: [Refused]) -> PostgresQuery {
        """
        unnest(\(refused.map(\.answer.owner)), \(refused.map(\.answer.token.hex)), \(refused.map(\.before)),
            \(refused.map(\.reason))) as r(owner, token, before, reason)
        """
    }

    private static let isSame: PostgresQuery = "= decode(r.token, 'hex')"

    private static func removal(_ refused: [Refused], _ place: Place) -> PostgresQuery {
        switch place {
        case .starts(let attributesType):
            """
            delete from start_tokens t using \(rows(refused))
            where t.installation = r.owner and t.attributes_type = \(attributesType) and t.token \(isSame)
                and t.registered_at < r.before
            """
        case .activities:
            """
            update activities t set update_token = null, registered_at = null, suspect_since = null, reason = r.reason
            from \(rows(refused)) where t.id = r.owner and t.update_token \(isSame) and t.registered_at < r.before
            """
        }
    }

    private static func suspicion(_ refused: [Refused], _ place: Place, now: Date) -> PostgresQuery {
        switch place {
        case .starts(let attributesType):
            """
            update start_tokens t set suspect_since = \(now), reason = r.reason from \(rows(refused))
            where t.installation = r.owner and t.attributes_type = \(attributesType) and t.token \(isSame)
                and t.registered_at < r.before and t.suspect_since is null
            """
        case .activities:
            """
            update activities t set suspect_since = \(now), reason = r.reason from \(rows(refused))
            where t.id = r.owner and t.update_token \(isSame) and t.registered_at < r.before
                and t.suspect_since is null
            """
        }
    }
}
