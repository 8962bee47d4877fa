internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Statements that write the audit log. The transaction that makes the change runs them.
struct AuditRows {
    let by: AuditActor
    let at: Date
    /// `signingKey`: the key that signed the call to Apple. `answer`: Apple's answer to that call.
    var signingKey: String?
    var answer: Contract.AuditAnswer?

    /// Inserts one entry.
    func insert(_ action: Contract.AuditAction, _ subject: AuditSubject, reason: String? = nil) -> PostgresQuery {
        Self.insert(action, [Line(actor: by, at: at, subject: subject, reason: reason)])
    }

    /// Inserts one entry for each row of `relation`. In `relation`, the channels have the name `c`.
    ///
    /// - Parameter reason: an SQL expression over `c`.
    func insert(_ action: Contract.AuditAction, channels relation: PostgresQuery, reason: PostgresQuery)
        -> PostgresQuery
    {
        """
        insert into audit_log (at, actor, api_key, action, bundle_id, environment, channel, channel_id, event_key,
            reason, signing_key, apns_status, apns_reason, apns_request_id)
        select \(common(action)), c.bundle_id, c.environment, c.id, c.channel_id, c.event_key, (\(reason))::text,
            \(signingKey)::text, \(answer?.status)::integer, \(answer?.reason)::text, \(answer?.requestId)::text
        from \(relation)
        """
    }

    /// The values of one entry, for a statement that inserts several entries.
    struct Line {
        let actor: AuditActor
        let at: Date
        let subject: AuditSubject
        let reason: String?
    }

    /// Inserts several entries of one action, in order, in one statement.
    static func insert(_ action: Contract.AuditAction, _ lines: [Line]) -> PostgresQuery {
        let subjects = lines.map(\.subject)
        return """
            insert into audit_log (at, actor, api_key, action, bundle_id, environment, channel, channel_id, event_key,
                broadcast, reason)
            select at, actor, api_key, \(action.rawValue)::text::audit_action, bundle_id, r.environment::environment,
                channel, channel_id, event_key, broadcast, reason
            from unnest(\(lines.map(\.at)), \(lines.map(\.actor.text)), \(lines.map(\.actor.keyID)),
                \(subjects.map(\.bundleID?.rawValue)), \(subjects.map(\.environment?.rawValue)),
                \(subjects.map(\.channel)), \(subjects.map(\.channelID)), \(subjects.map(\.eventKey?.rawValue)),
                \(subjects.map(\.broadcast)), \(lines.map(\.reason))) with ordinality
                as r(at, actor, api_key, bundle_id, environment, channel, channel_id, event_key, broadcast, reason, place)
            order by place
            """
    }

    /// Inserts one entry for each app of the subject, or one entry without an app if the subject has no app.
    ///
    /// - Parameter reasons: the reason in each app's entry.
    func insert(
        _ action: Contract.AuditAction, _ subject: AuditSubject, of apps: Set<BundleID>,
        reasons: [BundleID: String] = [:]
    ) -> PostgresQuery {
        let named: [BundleID?] = apps.isEmpty ? [nil] : apps.sorted()
        return Self.insert(
            action,
            named.map { app in
                var subject = subject
                subject.bundleID = app
                return Line(actor: by, at: at, subject: subject, reason: app.flatMap { reasons[$0] })
            })
    }

    /// Inserts one entry for each app that a withdrawn broadcast was for.
    ///
    /// - Parameter wasScheduled: whether the broadcast had no deliveries yet.
    func withdrawal(of id: UUID, wasScheduled: Bool) -> PostgresQuery {
        """
        insert into audit_log (at, actor, api_key, action, bundle_id, channel, event_key, broadcast, reason)
        select \(common(.broadcastWithdrawn)), a.bundle_id, b.channel, b.event_key, b.id, b.event::text
        from broadcasts b left join lateral (
            select l.bundle_id from deliveries d join audiences l on l.lane = d.lane where d.broadcast_id = b.id
            union
            select c.bundle_id from channels c where c.id = b.channel
            union
            select u.bundle_id from audiences u
            where u.event_key = b.event_key and \(wasScheduled) and (b.audiences is null or exists (
                select from json_array_elements(b.audiences) s
                where s ->> 'bundleId' = u.bundle_id and s ->> 'environment' = u.environment::text))
        ) a on true
        where b.id = \(id)
        """
    }

    private func common(_ action: Contract.AuditAction) -> PostgresQuery {
        "\(at)::timestamptz, \(by.text)::text, \(by.keyID)::uuid, \(action.rawValue)::text::audit_action"
    }
}

/// The objects of an action; those that do not apply are `nil`.
struct AuditSubject {
    var bundleID: BundleID?
    var environment: APNsEnvironment?
    /// Our ID of the channel.
    var channel: UUID?
    /// Apple's ID of the channel.
    var channelID: String?
    var eventKey: EventKey?
    var broadcast: UUID?
}

extension Contract.AuditAnswer {
    /// The reason in one spelling, because Apple spells some reasons in several ways. The table of channels stores this
    /// spelling, and reasons are compared in this spelling.
    var canonicalReason: String? { reason.map { APNsReason(rawValue: $0).rawValue } }

    /// The parts of `answer`. For an accepted call, `status` is recorded.
    init(_ answer: APNsAnswer<some Sendable>, accepted status: Int) {
        switch answer {
        case .accepted(_, let receipt): self.init(status: status, requestId: receipt.requestID)
        case .refused(let refusal) where refusal.isHeldBack: self.init(reason: refusal.reason.text)
        case .refused(let refusal):
            self.init(status: refusal.status, reason: refusal.reason.text, requestId: refusal.requestID)
        case .unanswered(let reason), .unsent(let reason), .withheld(let reason): self.init(reason: reason)
        }
    }
}
