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

    /// Inserts one entry for each app, or one entry about the subject's app if there are none.
    func insert(
        _ action: Contract.AuditAction, _ subject: AuditSubject, of apps: Set<BundleID> = [], reason: String? = nil
    ) -> PostgresQuery {
        let apps: [BundleID?] = apps.isEmpty ? [subject.bundleID] : apps.sorted()
        return Self.insert(
            action,
            apps.map { app in
                var subject = subject
                subject.bundleID = app
                return (by, at, subject, reason)
            })
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
    typealias Line = (actor: AuditActor, at: Date, subject: AuditSubject, reason: String?)

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

    /// Inserts one entry about a withdrawn broadcast for each app that the entries of its acceptance name, if
    /// they are still there.
    func withdrawal(of id: UUID) -> PostgresQuery {
        """
        insert into audit_log (at, actor, api_key, action, bundle_id, channel, event_key, broadcast, reason)
        select \(common(.broadcastWithdrawn)), a.bundle_id, b.channel, b.event_key, b.id, b.event::text
        from broadcasts b left join audit_log a
            on a.at = b.accepted_at and a.broadcast = b.id and a.action = 'broadcast.accepted'
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
        case .refused(let refusal) where refusal.isHeldBack: self.init(reason: refusal.reason.spelling)
        case .refused(let refusal):
            self.init(status: refusal.status, reason: refusal.reason.spelling, requestId: refusal.requestID)
        case .unanswered(let reason), .unsent(let reason), .withheld(let reason): self.init(reason: reason)
        }
    }
}
