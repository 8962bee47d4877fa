internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Answers of APNs about an app's device tokens, as `token_answers` counts them: acceptances, and refusals that are the
/// token's and may be our mistake.
struct TokenTally {
    var accepted = 0
    var suspect = 0
    /// Of the last of these.
    var reason: String?

    /// Whether there is nothing to count.
    var isEmpty: Bool { accepted == 0 && suspect == 0 }

    /// Adds what became of a single push.
    mutating func add(_ verdict: Verdict) {
        switch verdict {
        case .accepted: accepted += 1
        case .rejected(let refusal) where TokenVerdict.suspectReasons.contains(refusal.reason):
            suspect += 1
            reason = refusal.reason.rawValue
        case .rejected, .retry, .throttled, .channelDoubted, .expired, .unknown: break
        }
    }

    static func += (one: inout TokenTally, other: TokenTally) {
        one.accepted += other.accepted
        one.suspect += other.suspect
        one.reason = other.reason ?? one.reason
    }

    /// Runs `statements`, then counts the answers of this minute, and raises or ends the alarm `tokens-refused`: the last
    /// of its transaction, for all answers of an app in a minute meet in one row. One round trip unless the alarm changes.
    ///
    /// - Parameter app: `app_environments.id`.
    func count(
        of app: Int, now: Date, after statements: [PostgresQuery], on connection: PostgresConnection
    ) async throws {
        guard !isEmpty else {
            try await connection.pipeline(statements)
            return
        }
        let count: PostgresQuery = """
            insert into token_answers as t (app, minute, accepted, suspect, reason)
            values (\(app), \(TokenAnswers.minute(of: now)), \(accepted), \(suspect), \(reason))
            on conflict (app, minute) do update set accepted = t.accepted + excluded.accepted,
                suspect = t.suspect + excluded.suspect, reason = coalesce(excluded.reason, t.reason)
            """
        let rows = try await connection.pipeline(statements + [count, TokenAlarmRows.lately(app, now: now)])
        try await TokenAlarmRows.judge(rows[rows.count - 1], of: app, now: now, on: connection)
    }

    /// Counts several apps' answers, as the last of a transaction: in one order, so that no two wait for each other.
    static func count(
        _ tallies: [AppEnvironment: TokenTally], now: Date, on connection: PostgresConnection
    ) async throws {
        let apps = Array(tallies.keys)
        let rows = try await connection.query(
            """
            select ae.id, ae.bundle_id, ae.environment
            from unnest(\(apps.map(\.bundleID.rawValue)), \(apps.map(\.environment.rawValue)))
                as r(bundle_id, environment)
            join app_environments ae on ae.bundle_id = r.bundle_id and ae.environment = r.environment::environment
            order by ae.id
            """)
        for row in rows {
            let app = AppEnvironment(bundleID: try row.word("bundle_id"), environment: try row.word("environment"))
            try await tallies[app]?.count(of: try row.decode("id"), now: now, after: [], on: connection)
        }
    }
}
