/// The action of an entry; the same words are a Postgres type.
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
    /// A channel found in Apple's list became ours.
    case channelAdopted = "channel.adopted"
    case channelImported = "channel.imported"
    case channelRetired = "channel.retired"
    case channelDeleted = "channel.deleted"
    /// Apple no longer had it.
    case channelMissing = "channel.missing"
    /// It was given up as missing, and Apple lists it again: it is unmanaged.
    case channelReleased = "channel.released"
    case eventCreated = "event.created"
    case eventChanged = "event.changed"
    case eventCancelled = "event.cancelled"
    /// Its end, or its cancellation, was taken back.
    case eventReopened = "event.reopened"
    /// Its end was never sent; the server closed it long after `endsAt`.
    case eventExpired = "event.expired"
    /// An event's start was asked for now, or to go on.
    case startRequested = "start.requested"
    /// The part of an event's start that had not gone was stopped.
    case startStopped = "start.stopped"
    case keyCreated = "key.created"
    case keyRevoked = "key.revoked"
    /// A key took another's place.
    case keyRotated = "key.rotated"
    case quirkLearned = "quirk.learned"
    case quirkSet = "quirk.set"
    case webhookCreated = "webhook.created"
    case webhookChanged = "webhook.changed"
    case webhookDeleted = "webhook.deleted"
    /// It got another secret.
    case webhookRotated = "webhook.rotated"
    /// It wanted no more messages, or failed for days.
    case webhookDisabled = "webhook.disabled"
    /// An update or an end, to be sent now or later.
    case broadcastAccepted = "broadcast.accepted"
    case broadcastWithdrawn = "broadcast.withdrawn"
    /// A push to one token, to be sent now or later.
    case pushAccepted = "push.accepted"
    case pushWithdrawn = "push.withdrawn"
    /// Old entries of this log were forgotten.
    case auditPruned = "audit.pruned"
}
