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
        let isGone: Bool
    }

    private let refused: [Refused]

    init(_ answers: some Sequence<Answer>) {
        refused = answers.compactMap { answer -> Refused? in
            switch answer.verdict {
            case .gone(let reason, let since):
                Refused(answer: answer, before: since ?? answer.sentAt, reason: reason, isGone: true)
            case .suspect(let reason):
                Refused(answer: answer, before: answer.sentAt, reason: reason, isGone: false)
            case .accepted, .retry, .unknown, .rejected, .expired: nil
            }
        }.sorted { $0.answer.owner < $1.answer.owner }
    }

    /// The statements that remove or mark tokens, for the transaction that records the verdicts. A registration locks
    /// tokens before it adds itself to starts. So in the transaction, these statements come before any statement that
    /// locks starts.
    ///
    /// - Parameter others: activities that the transaction changes as well.
    func pruning(_ place: Place, besides others: [Int] = [], now: Date) -> [PostgresQuery] {
        switch place {
        case .starts(let attributesType):
            guard !refused.isEmpty else { return [] }
            let isSame: PostgresQuery = """
                t.installation = r.owner and t.attributes_type = \(attributesType) and t.token = decode(r.token, 'hex')
                    and t.registered_at < r.before
                """
            return [
                "delete from start_tokens t using \(rows) where \(isSame) and r.is_gone",
                """
                update start_tokens t set suspect_since = \(now), reason = r.reason from \(rows)
                where \(isSame) and not r.is_gone and t.suspect_since is null
                """,
            ]
        case .activities:
            // Activities are locked in order of their numbers, as reports do (`ActivityReportTransaction`). An update
            // alone would lock its rows in the order of its plan.
            let ids = Set(refused.map(\.answer.owner) + others).sorted()
            let lock: PostgresQuery = "select from activities where id = any(\(ids)) order by id for no key update"
            guard !refused.isEmpty else { return others.isEmpty ? [] : [lock] }
            return [
                lock,
                """
                update activities t set reason = r.reason,
                    update_token = case when not r.is_gone then t.update_token end,
                    registered_at = case when not r.is_gone then t.registered_at end,
                    suspect_since = case when not r.is_gone then \(now) end
                from \(rows)
                where t.id = r.owner and t.update_token = decode(r.token, 'hex') and t.registered_at < r.before
                    and (r.is_gone or t.suspect_since is null)
                """,
            ]
        }
    }

    /// The refused tokens as rows `r`.
    private var rows: PostgresQuery {
        """
        unnest(\(refused.map(\.answer.owner)), \(refused.map(\.answer.token.hex)), \(refused.map(\.before)),
            \(refused.map(\.reason)), \(refused.map(\.isGone))) as r(owner, token, before, reason, is_gone)
        """
    }
}
