internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The consequences of APNs' answers for tokens. A token that is gone is removed; a suspect token is not used until its
/// app registers it again. A token is removed or marked only if the owner still has the token that the push was sent
/// to.
struct TokenCare {
    private let rows: [Int]
    /// A token that was registered after `before` is not affected, because it may be good.
    private let refused: [(row: Int, token: DeviceToken, before: Date, reason: String, isGone: Bool)]
    private let now: Date

    init(_ outcomes: [PushOutcome<some PushMember>], at now: Date) {
        self.now = now
        rows = outcomes.map(\.member.row).sorted()
        refused = outcomes.compactMap { one -> (Int, DeviceToken, Date, String, Bool)? in
            let (row, token) = (one.member.row, one.member.token)
            return switch one.verdict {
            case .gone(let reason, let since): (row, token, since ?? one.sentAt, reason, true)
            case .suspect(let reason): (row, token, one.sentAt, reason, false)
            case .accepted, .retry, .unknown, .rejected, .expired, nil: nil
            }
        }.sorted { $0.0 < $1.0 }
    }

    /// The statements that remove or mark start tokens of installations, for the transaction that records the verdicts.
    /// A registration locks tokens before it adds itself to starts. So in the transaction, these statements come before
    /// any statement that locks starts.
    func startTokens(of attributesType: String) -> [PostgresQuery] {
        guard !refused.isEmpty else { return [] }
        let isSame: PostgresQuery = """
            t.installation = r.owner and t.attributes_type = \(attributesType) and t.token = decode(r.token, 'hex')
                and t.registered_at < r.before
            """
        return [
            "delete from start_tokens t using \(refusals) where \(isSame) and r.is_gone",
            """
            update start_tokens t set suspect_since = \(now), reason = r.reason from \(refusals)
            where \(isSame) and not r.is_gone and t.suspect_since is null
            """,
        ]
    }

    /// The statements that lock all of the activities, and remove or mark their tokens.
    func activities() -> [PostgresQuery] {
        // Activities are locked in order of their numbers, as reports do (`InstallationTransactions`). An update alone
        // would lock its rows in the order of its plan.
        let lock: PostgresQuery = "select from activities where id = any(\(rows)) order by id for no key update"
        guard !refused.isEmpty else { return [lock] }
        return [
            lock,
            """
            update activities t set reason = r.reason,
                update_token = case when not r.is_gone then t.update_token end,
                registered_at = case when not r.is_gone then t.registered_at end,
                suspect_since = case when not r.is_gone then \(now) end
            from \(refusals)
            where t.id = r.owner and t.update_token = decode(r.token, 'hex') and t.registered_at < r.before
                and (r.is_gone or t.suspect_since is null)
            """,
        ]
    }

    /// The refused tokens as rows `r`.
    private var refusals: PostgresQuery {
        """
        unnest(\(refused.map(\.row)), \(refused.map(\.token.hex)), \(refused.map(\.before)),
            \(refused.map(\.reason)), \(refused.map(\.isGone))) as r(owner, token, before, reason, is_gone)
        """
    }
}
