internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The store that gives shards out and records their outcomes.
protocol ShardStore: Sendable {
    /// Leases the owners that are due in an environment, and takes the next shard of each.
    func claim(_ claim: WorkClaim) async throws -> [Shard]

    /// Records the outcomes of a shard's pushes, removes tokens as the answers require, and releases the lease. Nothing
    /// changes if another replica has the lease by now.
    func settle(_ shard: Shard, _ outcomes: [PushOutcome], replica: UUID, now: Date) async throws

    /// Extends a replica's leases of these owners to `leasedUntil`, because the replica still works on them.
    func extendLeases(of owners: [Int], replica: UUID, until leasedUntil: Date) async throws

    /// When the next shard in the environment is due; `nil`: none waits.
    func nextDue(in environment: APNsEnvironment) async throws -> Date?
}

// MARK: Tokens

/// The consequences of APNs' answers for tokens. A token that is gone is removed; a suspect token is not used until its
/// app registers it again. A token is removed or marked only if the owner still has the token that the push was sent
/// to.
extension [PushOutcome] {
    /// The refused tokens as rows `r`; `nil`: there are none. A token that was registered after `before` is not affected,
    /// because it may be good.
    private var refusals: PostgresQuery? {
        let refused = compactMap { one -> (row: Int, token: String, before: Date, isGone: Bool)? in
            let (row, token) = (one.member.row, one.member.token.hex)
            return switch one.verdict {
            case .gone(_, let since): (row, token, since ?? one.sentAt, true)
            case .suspect: (row, token, one.sentAt, false)
            case .accepted, .retry, .unknown, .rejected, .expired, nil: nil
            }
        }.sorted { $0.row < $1.row }
        guard !refused.isEmpty else { return nil }
        return """
            unnest(\(refused.map(\.row)), \(refused.map(\.token)), \(refused.map(\.before)),
                \(refused.map(\.isGone))) as r(owner, token, before, is_gone)
            """
    }

    /// The statements that remove or mark start tokens of installations, for the transaction that records the verdicts.
    /// A registration locks tokens before it adds itself to starts. So in the transaction, these statements come before
    /// any statement that locks starts. A registration that takes over a token (`inherit`) locks starts first: if
    /// PostgreSQL then breaks a deadlock, both are repeated.
    func markStartTokens(of attributesType: String, at now: Date) -> [PostgresQuery] {
        guard let refusals else { return [] }
        let isSame: PostgresQuery = """
            t.installation = r.owner and t.attributes_type = \(attributesType) and t.token = decode(r.token, 'hex')
                and t.registered_at < r.before
            """
        return [
            "delete from start_tokens t using \(refusals) where \(isSame) and r.is_gone",
            """
            update start_tokens t set suspect_since = \(now) from \(refusals)
            where \(isSame) and not r.is_gone and t.suspect_since is null
            """,
        ]
    }

    /// The statements that lock all of the activities, and remove or mark their tokens. Activities are locked in order
    /// of their numbers, as reports do (`InstallationTransactions`). An update alone would lock its rows in the order of
    /// its plan.
    func markActivities(at now: Date) -> [PostgresQuery] {
        ["select from activities where id = any(\(map(\.member.row).sorted())) order by id for no key update"]
            + (refusals.map { refusals in
                [
                    """
                    update activities t set update_token = case when not r.is_gone then t.update_token end,
                        registered_at = case when not r.is_gone then t.registered_at end,
                        suspect_since = case when not r.is_gone then \(now) end
                    from \(refusals)
                    where t.id = r.owner and t.update_token = decode(r.token, 'hex') and t.registered_at < r.before
                        and (r.is_gone or t.suspect_since is null)
                    """
                ]
            } ?? [])
    }
}
