package import APNsWire
package import FoundationEssentials

/// One line of the audit log: the actor, the action, and Apple's answer. Entries are only ever added.
package struct AuditEntry: Sendable, Hashable {
    /// Rises with every entry.
    package var id: Int
    package var at: Date
    package var actor: String
    /// The ID of the API key, if the actor was an API key.
    package var keyID: UUID?
    package var action: AuditAction
    package var subject: Subject
    /// Why, in words.
    package var reason: String?
    /// The ID of the key that signed the call to Apple, if there was a call.
    package var signingKey: String?
    package var answer: APNsRecord?

    package init(
        id: Int, at: Date, actor: String, keyID: UUID?, action: AuditAction, subject: Subject, reason: String?,
        signingKey: String?, answer: APNsRecord?
    ) {
        self.id = id
        self.at = at
        self.actor = actor
        self.keyID = keyID
        self.action = action
        self.subject = subject
        self.reason = reason
        self.signingKey = signingKey
        self.answer = answer
    }

    /// The objects of the action; those that do not apply are `nil`.
    package struct Subject: Sendable, Hashable {
        package var bundleID: BundleID?
        package var environment: APNsEnvironment?
        /// Our ID of the channel.
        package var channel: UUID?
        /// Apple's ID of the channel.
        package var channelID: String?
        package var eventKey: EventKey?
        package var broadcast: UUID?

        package init(
            bundleID: BundleID? = nil, environment: APNsEnvironment? = nil, channel: UUID? = nil,
            channelID: String? = nil, eventKey: EventKey? = nil, broadcast: UUID? = nil
        ) {
            self.bundleID = bundleID
            self.environment = environment
            self.channel = channel
            self.channelID = channelID
            self.eventKey = eventKey
            self.broadcast = broadcast
        }
    }
}

/// The stored parts of Apple's answer to a call.
package struct APNsRecord: Sendable, Hashable {
    /// `nil`: no answer came.
    package var status: Int?
    /// The refusal's reason, or why there was no answer.
    package var reason: String?
    package var requestID: String?

    package init(status: Int?, reason: String?, requestID: String?) {
        self.status = status
        self.reason = reason
        self.requestID = requestID
    }

    /// The reason in one spelling, because Apple spells some reasons in several ways. The table of channels stores this
    /// spelling, and reasons are compared in this spelling.
    package var canonicalReason: String? { reason.map { APNsReason(rawValue: $0).rawValue } }

    /// The parts of `answer`. For an accepted call, `status` is recorded.
    package init(_ answer: APNsAnswer<some Sendable>, accepted status: Int) {
        switch answer {
        case .accepted(_, let receipt): self.init(status: status, reason: nil, requestID: receipt.requestID)
        case .refused(let refusal) where refusal.isHeldBack:
            self.init(status: nil, reason: refusal.reason.text, requestID: nil)
        case .refused(let refusal):
            self.init(status: refusal.status, reason: refusal.reason.text, requestID: refusal.requestID)
        case .unanswered(let reason), .unsent(let reason), .withheld(let reason):
            self.init(status: nil, reason: reason, requestID: nil)
        }
    }
}

/// A filter of the audit log; a member that is `nil` does not filter.
package struct AuditFilter: Sendable, Hashable {
    package var actor: String?
    package var action: AuditAction?
    package var bundleID: BundleID?
    package var event: EventKey?
    /// Whether accepted updates are left out. A feed has thousands of them.
    package var omitsUpdates: Bool
    /// Only entries of these apps, and of events within this reach.
    package var reach: AppReach
    /// Only entries at or after this time.
    package var from: Date?
    /// Only entries before this time.
    package var to: Date?

    package init(
        actor: String? = nil, action: AuditAction? = nil, bundleID: BundleID? = nil, event: EventKey? = nil,
        omitsUpdates: Bool = false, within reach: AppReach = .all, from: Date? = nil, to: Date? = nil
    ) {
        self.actor = actor
        self.action = action
        self.bundleID = bundleID
        self.event = event
        self.omitsUpdates = omitsUpdates
        self.reach = reach
        self.from = from
        self.to = to
    }
}
