internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Statements that write the audit log, for the transaction of what they tell of.
struct AuditRows {
    let actor: AuditActor
    let now: Date
    /// The key that signed the call to Apple, and Apple's answer to it.
    var signingKey: String?
    var answer: APNsRecord?

    init(by actor: AuditActor, at now: Date, signingKey: String? = nil, answer: APNsRecord? = nil) {
        self.actor = actor
        self.now = now
        self.signingKey = signingKey
        self.answer = answer
    }

    /// One entry.
    func insert(_ action: AuditAction, _ subject: AuditEntry.Subject, reason: String? = nil) -> PostgresQuery {
        """
        \(head) select \(common(action)), \(subject.bundleID?.rawValue)::text,
            \(subject.environment?.rawValue)::text::environment, \(subject.channel)::uuid, \(subject.channelID)::text,
            \(subject.eventKey?.rawValue)::text, \(reason)::text, \(tail)
        """
    }

    /// One entry for each row of `relation`, whose rows `c` are channels.
    ///
    /// - Parameter reason: an SQL expression over `c`.
    func insert(_ action: AuditAction, channels relation: PostgresQuery, reason: PostgresQuery) -> PostgresQuery {
        """
        \(head) select \(common(action)), c.bundle_id, c.environment, c.id, c.channel_id, c.event_key,
            (\(reason))::text, \(tail) from \(relation)
        """
    }

    private var head: PostgresQuery {
        """
        insert into audit_log (at, actor, api_key, action, bundle_id, environment, channel, channel_id, event_key,
            reason, signing_key, apns_status, apns_reason, apns_request_id)
        """
    }

    private func common(_ action: AuditAction) -> PostgresQuery {
        "\(now)::timestamptz, \(actor.text)::text, \(actor.keyID)::uuid, \(action.rawValue)::text::audit_action"
    }

    private var tail: PostgresQuery {
        """
        \(signingKey)::text, \(answer?.status)::integer, \(answer?.reason)::text, \(answer?.requestID)::text
        """
    }
}
