internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The alarm `tokens-refused` in the table `token_alarms`: decided by `TokenAnswers` with each transaction that counts,
/// noted by the one that raises it.
enum TokenAlarmRows {
    // MARK: Deciding

    /// The minutes that count now, with the last alarm beside each.
    static func lately(_ app: Int, now: Date) -> PostgresQuery {
        """
        select m.minute, m.accepted, m.suspect, m.reason, t.since, t.ended_at, t.judged_minute, t.judged_accepted,
            t.judged_suspect
        from token_answers m left join token_alarms t on t.app = m.app
        where m.app = \(app) and m.minute > \(TokenAnswers.windowStart(at: now)) order by m.minute
        """
    }

    /// Lets the alarm be what `rows` of `lately` say. Two transactions may see the same: one of them raises it.
    static func judge(_ rows: PostgresRows, of app: Int, now: Date, on connection: PostgresConnection) async throws {
        let answers = TokenAnswers(minutes: try rows.map(minute), alarm: try rows.first.flatMap(alarm))
        guard let newest = answers.minutes.last, let change = answers.change(now: now) else { return }
        switch change {
        case .raised(let since):
            let told = answers.minutes.filter { $0.begins >= since }
            let refused = told.reduce(0) { $0 + $1.suspect }
            let all = told.reduce(refused) { $0 + $1.accepted }
            let reason = try rows.compactMap { try $0.decode(String?.self, "reason") }.last
            try await connection.query(
                """
                with raised as (
                    insert into token_alarms as t (app, since, judged_minute, judged_accepted, judged_suspect)
                    values (\(app), \(since), \(newest.begins), \(newest.accepted), \(newest.suspect))
                    on conflict (app) do update set since = excluded.since, ended_at = null,
                        judged_minute = excluded.judged_minute, judged_accepted = excluded.judged_accepted,
                        judged_suspect = excluded.judged_suspect
                    where t.ended_at is not null or t.since <= \(TokenAnswers.oldestAlarm(at: now))
                    returning app
                )
                select note_for_webhooks(\(WebhookTopic.tokensRefused.rawValue)::text::webhook_topic, \(now), ae.bundle_id,
                    detail => json_build_object('bundle_id', ae.bundle_id, 'environment', ae.environment,
                        'reason', \(reason)::text, 'refused', \(refused)::bigint, 'answers', \(all)::bigint,
                        'since', \(RFC3339.text(since))::text))
                from raised r join app_environments ae on ae.id = r.app
                """)
        case .confirmed:
            try await connection.query(
                """
                update token_alarms set judged_minute = \(newest.begins), judged_accepted = \(newest.accepted),
                    judged_suspect = \(newest.suspect)
                where app = \(app) and ended_at is null and judged_minute <= \(newest.begins)
                """)
        case .ended:
            guard let judged = answers.alarm?.judged else { return }
            // A transaction that confirmed it meanwhile saw more.
            try await connection.query(
                """
                update token_alarms set ended_at = \(now)
                where app = \(app) and ended_at is null and judged_minute = \(judged.begins)
                    and judged_accepted = \(judged.accepted) and judged_suspect = \(judged.suspect)
                """)
        }
    }

    private static func minute(_ row: PostgresRow) throws -> TokenAnswers.Minute {
        TokenAnswers.Minute(
            begins: try row.decode("minute"), accepted: try row.decode("accepted"), suspect: try row.decode("suspect"))
    }

    private static func alarm(_ row: PostgresRow) throws -> TokenAnswers.Alarm? {
        guard let since = try row.decode(Date?.self, "since") else { return nil }
        return TokenAnswers.Alarm(
            since: since, endedAt: try row.decode("ended_at"),
            judged: TokenAnswers.Minute(
                begins: try row.decode("judged_minute"), accepted: try row.decode("judged_accepted"),
                suspect: try row.decode("judged_suspect")))
    }

    // MARK: Showing

    /// The alarm that stands for an app, one row or none: `since`, `refused`, `answers`, `reason`.
    ///
    /// - Parameter app: a column with `app_environments.id`.
    static func standing(of app: PostgresQuery, now: Date) -> PostgresQuery {
        """
        select t.since, s.refused, s.answers, s.reason
        from token_alarms t cross join lateral (
            select sum(m.suspect)::bigint as refused, sum(m.accepted + m.suspect)::bigint as answers,
                (array_agg(m.reason order by m.minute desc) filter (where m.reason is not null))[1] as reason
            from token_answers m where m.app = t.app and m.minute >= t.since) s
        where t.app = \(app) and t.ended_at is null and t.since > \(TokenAnswers.oldestAlarm(at: now))
            and s.reason is not null
        """
    }

    /// Reads `standing` off columns whose names begin with `refused`.
    static func standing(_ row: PostgresRow, of app: AppEnvironment) throws -> TokensRefused? {
        guard let since = try row.decode(Date?.self, "refused_since") else { return nil }
        return TokensRefused(
            app: app, reason: try row.decode("refused_reason"), refused: try row.decode("refused"),
            answers: try row.decode("answers"), since: since)
    }
}
