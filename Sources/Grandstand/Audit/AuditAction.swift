/// What an audit entry records. The Postgres type `audit_action` has the same words.
package enum AuditAction: String, Sendable, Hashable, CaseIterable {
    case appRegistered = "app.registered"
    case appChanged = "app.changed"
    case appDeleted = "app.deleted"
    case contentCreated = "content.created"
    case contentChanged = "content.changed"
    case contentDeleted = "content.deleted"
    case channelCreated = "channel.created"
    /// Apple refused a creation or deletion; repeated refusals for the same reason are one entry.
    case channelRefused = "channel.refused"
    /// Apple did not answer a creation: the channel may exist.
    case channelUnanswered = "channel.unanswered"
    /// The server took over a channel that it found only in Apple's list.
    case channelAdopted = "channel.adopted"
    case channelImported = "channel.imported"
    case channelRetired = "channel.retired"
    case channelDeleted = "channel.deleted"
    /// Apple no longer had the channel.
    case channelMissing = "channel.missing"
    /// The channel was given up as missing and is in Apple's list again. It is unmanaged now.
    case channelReleased = "channel.released"
    case eventCreated = "event.created"
    case eventChanged = "event.changed"
    case eventCancelled = "event.cancelled"
    /// The event's end or cancellation was undone.
    case eventReopened = "event.reopened"
    /// The event's end was never sent, so the server closed the event long after `endsAt`.
    case eventExpired = "event.expired"
    /// Somebody asked to send an event's start now, or to resume it.
    case startRequested = "start.requested"
    /// An event's start was stopped before all of it was sent.
    case startStopped = "start.stopped"
    case keyCreated = "key.created"
    case keyRevoked = "key.revoked"
    /// A new key replaced another one.
    case keyRotated = "key.rotated"
    case quirkLearned = "quirk.learned"
    case webhookCreated = "webhook.created"
    case webhookChanged = "webhook.changed"
    case webhookDeleted = "webhook.deleted"
    /// The webhook got a new secret.
    case webhookRotated = "webhook.rotated"
    /// The server disabled the webhook, because the receiver refused further messages or failed for days.
    case webhookDisabled = "webhook.disabled"
    /// The server accepted an update or an end, to be sent now or later.
    case broadcastAccepted = "broadcast.accepted"
    case broadcastWithdrawn = "broadcast.withdrawn"
    /// Old entries of the audit log were deleted.
    case auditPruned = "audit.pruned"
}
