// Generated from openapi.yaml by `make contract`. Do not edit.

public import Foundation
public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.AppPage {
    /// Lists apps.
    public static func listApps() -> Self {
        Self(.listApps, "/v1/apps")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.App {
    /// Registers an app or changes it.
    public static func putApp(_ bundleId: String, _ draft: GrandstandClient.AppDraft) -> Self {
        Self(.putApp, "/v1/apps/\(bundleId)", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putApp(_ bundleId: String, json: RawJSON) -> Self {
        Self(.putApp, "/v1/apps/\(bundleId)", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.App {
    /// Shows an app, its key files and its quirks.
    public static func getApp(_ bundleId: String) -> Self {
        Self(.getApp, "/v1/apps/\(bundleId)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Removes an app that has no channels.
    public static func deleteApp(_ bundleId: String) -> Self {
        Self(.deleteApp, "/v1/apps/\(bundleId)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Quirk {
    /// Corrects what the server learned about APNs.
    public static func putQuirk(_ quirk: String, of app: GrandstandClient.AppEnvironment, value: Contract.QuirkValue)
        -> Self
    {
        Self(.putQuirk, "/v1/apps/\(app)/quirks/\(quirk)", body: Contract.QuirkDraft(value: value))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Channel {
    /// Creates a channel at Apple, within the quota.
    public static func createChannel(
        in app: GrandstandClient.AppEnvironment, storagePolicy: Contract.StoragePolicy, label: String? = nil
    ) -> Self {
        Self(
            .createChannel, "/v1/apps/\(app)/channels",
            body: Contract.ChannelDraft(storagePolicy: storagePolicy, label: label))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.ChannelPage {
    /// Lists channels. managed=false lists those that only Apple has.
    public static func listChannels(
        in app: GrandstandClient.AppEnvironment, state: Contract.ChannelState? = nil,
        storagePolicy: Contract.StoragePolicy? = nil, eventKey: String? = nil, channelId: String? = nil,
        managed: Bool? = nil
    ) -> Self {
        Self(
            .listChannels, "/v1/apps/\(app)/channels",
            [
                ("state", state), ("storagePolicy", storagePolicy), ("eventKey", eventKey), ("channelId", channelId),
                ("managed", managed),
            ])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Channel {
    /// Takes over a channel that was made elsewhere.
    public static func importChannel(
        _ channelId: String, in app: GrandstandClient.AppEnvironment, label: String? = nil, eventKey: String? = nil,
        variant: String? = nil
    ) -> Self {
        Self(
            .importChannel, "/v1/apps/\(app)/channels/import",
            body: Contract.ChannelImport(channelId: channelId, label: label, eventKey: eventKey, variant: variant))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Channel {
    /// Shows a channel. verify=true asks Apple.
    public static func getChannel(_ id: String, in app: GrandstandClient.AppEnvironment, verify: Bool? = nil) -> Self {
        Self(.getChannel, "/v1/apps/\(app)/channels/\(id)", [("verify", verify)])
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Deletes a channel at Apple.
    public static func deleteChannel(_ id: String, in app: GrandstandClient.AppEnvironment, force: Bool? = nil) -> Self
    {
        Self(.deleteChannel, "/v1/apps/\(app)/channels/\(id)", [("force", force)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Broadcast {
    /// Sends to a channel without an event.
    public static func broadcastToChannel(
        _ id: String, in app: GrandstandClient.AppEnvironment, _ draft: GrandstandClient.BroadcastDraft
    ) -> Self {
        Self(.broadcastToChannel, "/v1/apps/\(app)/channels/\(id)/broadcasts", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func broadcastToChannel(_ id: String, in app: GrandstandClient.AppEnvironment, json: RawJSON) -> Self
    {
        Self(.broadcastToChannel, "/v1/apps/\(app)/channels/\(id)/broadcasts", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Push {
    /// Starts, updates or ends one activity by its token.
    public static func push(to app: GrandstandClient.AppEnvironment, _ draft: GrandstandClient.PushDraft) -> Self {
        Self(.push, "/v1/apps/\(app)/pushes", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func push(to app: GrandstandClient.AppEnvironment, json: RawJSON) -> Self {
        Self(.push, "/v1/apps/\(app)/pushes", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Reconciliation {
    /// Compares Apple's list of channels with the ledger, and acts on it if asked to.
    public static func reconcile(
        _ app: GrandstandClient.AppEnvironment, apply: Bool? = nil, adopt: Bool? = nil, deleteUnmanaged: Bool? = nil,
        recreate: Bool? = nil
    ) -> Self {
        Self(
            .reconcile, "/v1/apps/\(app)/reconciliations",
            body: Contract.ReconciliationDraft(
                apply: apply, adopt: adopt, deleteUnmanaged: deleteUnmanaged, recreate: recreate))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.ReconciliationPage {
    /// Lists reports, the newest first.
    public static func listReconciliations(of app: GrandstandClient.AppEnvironment) -> Self {
        Self(.listReconciliations, "/v1/apps/\(app)/reconciliations")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Reconciliation {
    /// Shows a report.
    public static func getReconciliation(_ id: String, of app: GrandstandClient.AppEnvironment) -> Self {
        Self(.getReconciliation, "/v1/apps/\(app)/reconciliations/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.EventPage {
    /// Lists events in the order in which they were declared.
    public static func listEvents(
        state: Contract.EventState? = nil, kind: String? = nil, season: String? = nil, bundleId: String? = nil,
        from: Date? = nil, to: Date? = nil, overdue: Bool? = nil
    ) -> Self {
        Self(
            .listEvents, "/v1/events",
            [
                ("state", state), ("kind", kind), ("season", season), ("bundleId", bundleId), ("from", from),
                ("to", to), ("overdue", overdue),
            ])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Event {
    /// Declares an event. The server makes its channels accordingly.
    public static func putEvent(_ key: String, _ draft: GrandstandClient.EventDraft) -> Self {
        Self(.putEvent, "/v1/events/\(key)", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putEvent(_ key: String, json: RawJSON) -> Self {
        Self(.putEvent, "/v1/events/\(key)", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Event {
    /// Shows an event and the channel of each audience.
    public static func getEvent(_ key: String) -> Self {
        Self(.getEvent, "/v1/events/\(key)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Cancels an event and retires its channels.
    public static func cancelEvent(_ key: String, end: Bool? = nil) -> Self {
        Self(.cancelEvent, "/v1/events/\(key)", [("end", end)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Event {
    /// Changes some of what an event declares.
    public static func patchEvent(_ key: String, _ patch: RawJSON) -> Self {
        Self(.patchEvent, "/v1/events/\(key)", body: patch)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.ReopenedEvent {
    /// Takes an event's end or cancellation back.
    public static func reopenEvent(_ key: String, audiences: [Contract.AudienceSelector]? = nil) -> Self {
        Self(.reopenEvent, "/v1/events/\(key)/reopen", body: Contract.ReopenOrder(audiences: audiences))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.StartReport {
    /// Starts the event's Live Activity for everyone who follows it, now instead of at its time.
    public static func startEvent(_ key: String, dryRun: Bool? = nil) -> Self {
        Self(.startEvent, "/v1/events/\(key)/starts", body: Contract.StartOrder(dryRun: dryRun))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.StartReport {
    /// Reports on the event's start, in all and for each audience.
    public static func getStart(_ key: String) -> Self {
        Self(.getStart, "/v1/events/\(key)/starts")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Stops those pushes of the event's start that were not made yet.
    public static func stopStart(_ key: String) -> Self {
        Self(.stopStart, "/v1/events/\(key)/starts")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.TopicPage {
    /// Lists the topics that installations follow, the most followed first.
    public static func listTopics(in app: GrandstandClient.AppEnvironment) -> Self {
        Self(.listTopics, "/v1/apps/\(app)/topics")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Streams the progress of an event's broadcasts as server-sent events.
    public static func streamEvent(_ key: String) -> Self {
        Self(.streamEvent, "/v1/events/\(key)/stream")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Broadcast {
    /// Sends an update or the end of an event.
    public static func broadcast(to eventKey: String, _ draft: GrandstandClient.BroadcastDraft) -> Self {
        Self(.broadcast, "/v1/events/\(eventKey)/broadcasts", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func broadcast(to eventKey: String, json: RawJSON) -> Self {
        Self(.broadcast, "/v1/events/\(eventKey)/broadcasts", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.BroadcastPage {
    /// Lists broadcasts of an event, the newest first.
    public static func listBroadcasts(of eventKey: String, scheduled: Bool? = nil) -> Self {
        Self(.listBroadcasts, "/v1/events/\(eventKey)/broadcasts", [("scheduled", scheduled)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.BroadcastPreview {
    /// Says what a broadcast would come to, and sends nothing.
    public static func previewBroadcast(to eventKey: String, _ draft: GrandstandClient.BroadcastDraft) -> Self {
        Self(.previewBroadcast, "/v1/events/\(eventKey)/broadcasts/preview", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func previewBroadcast(to eventKey: String, json: RawJSON) -> Self {
        Self(.previewBroadcast, "/v1/events/\(eventKey)/broadcasts/preview", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.BroadcastBatchResult {
    /// Sends up to 500 broadcasts in one commit, each accepted or refused on its own.
    public static func broadcastMany(_ items: [Contract.BroadcastItem]) -> Self {
        Self(.broadcastMany, "/v1/broadcasts", body: Contract.BroadcastBatch(items: items))
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func broadcastMany(json: RawJSON) -> Self {
        Self(.broadcastMany, "/v1/broadcasts", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Broadcast {
    /// Shows a broadcast and its deliveries.
    public static func getBroadcast(_ id: String) -> Self {
        Self(.getBroadcast, "/v1/broadcasts/\(id)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Withdraws a broadcast of which nothing was sent.
    public static func cancelBroadcast(_ id: String) -> Self {
        Self(.cancelBroadcast, "/v1/broadcasts/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Push {
    /// Shows a push and how far it is.
    public static func getPush(_ id: String) -> Self {
        Self(.getPush, "/v1/pushes/\(id)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Withdraws a push that was not sent.
    public static func cancelPush(_ id: String) -> Self {
        Self(.cancelPush, "/v1/pushes/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Lookup {
    /// Finds the channel of an event, for an app that starts a Live Activity.
    public static func lookup(
        _ key: String, in app: GrandstandClient.AppEnvironment, include: Contract.LookupInclude? = nil,
        variant: String? = nil
    ) -> Self {
        Self(.lookup, "/v1/lookup/\(app)/\(key)", [("include", include), ("variant", variant)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.FollowablePage {
    /// Lists the events that an app may offer to follow, by startsAt.
    public static func lookupList(
        in app: GrandstandClient.AppEnvironment, topic: String? = nil, from: Date? = nil, to: Date? = nil,
        state: Contract.FollowableState? = nil, variant: String? = nil
    ) -> Self {
        Self(
            .lookupList, "/v1/lookup/\(app)",
            [("topic", topic), ("from", from), ("to", to), ("state", state), ("variant", variant)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.LookupBatchAnswer {
    /// Finds the channels of up to 100 events.
    public static func lookupMany(_ keys: [String], in app: GrandstandClient.AppEnvironment, variant: String? = nil)
        -> Self
    {
        Self(.lookupMany, "/v1/lookup/\(app)", [("variant", variant)], body: Contract.LookupBatch(eventKeys: keys))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Registered {
    /// Registers an installation of the app, or changes its state.
    public static func putInstallation(
        _ identity: GrandstandClient.InstallationIdentity, _ draft: GrandstandClient.InstallationDraft
    ) -> Self {
        Self(.putInstallation, "/v1/apps/\(identity)", body: draft).by(identity)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putInstallation(_ identity: GrandstandClient.InstallationIdentity, json: RawJSON) -> Self {
        Self(.putInstallation, "/v1/apps/\(identity)", body: json).by(identity)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Installation {
    /// Shows an installation to its own app.
    public static func getInstallation(_ identity: GrandstandClient.InstallationIdentity) -> Self {
        Self(.getInstallation, "/v1/apps/\(identity)").by(identity)
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Deletes everything about an installation, at once and for good.
    public static func forgetInstallation(_ identity: GrandstandClient.InstallationIdentity) -> Self {
        Self(.forgetInstallation, "/v1/apps/\(identity)").by(identity)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Registered {
    /// Reports an activity, confirms its start, brings or replaces its update token.
    public static func putActivity(
        _ activityId: String, of identity: GrandstandClient.InstallationIdentity,
        _ draft: GrandstandClient.ActivityDraft
    ) -> Self {
        Self(.putActivity, "/v1/apps/\(identity)/activities/\(activityId)", body: draft).by(identity)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putActivity(
        _ activityId: String, of identity: GrandstandClient.InstallationIdentity, json: RawJSON
    ) -> Self {
        Self(.putActivity, "/v1/apps/\(identity)/activities/\(activityId)", body: json).by(identity)
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Deletes an activity.
    public static func forgetActivity(_ activityId: String, of identity: GrandstandClient.InstallationIdentity) -> Self
    {
        Self(.forgetActivity, "/v1/apps/\(identity)/activities/\(activityId)").by(identity)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.RecordedReceipts {
    /// Reports which messages an installation of the sample showed, and when.
    public static func recordReceipts(
        _ receipts: [Contract.Receipt], of identity: GrandstandClient.InstallationIdentity, sentAt: Date? = nil
    ) -> Self {
        Self(
            .recordReceipts, "/v1/apps/\(identity)/receipts",
            body: Contract.ReceiptBatch(sentAt: sentAt, items: receipts)
        ).by(identity)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func recordReceipts(of identity: GrandstandClient.InstallationIdentity, json: RawJSON) -> Self {
        Self(.recordReceipts, "/v1/apps/\(identity)/receipts", body: json).by(identity)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.InstallationStatistics {
    /// Shows numbers of an app's installations.
    public static func installationStatistics(of app: GrandstandClient.AppEnvironment) -> Self {
        Self(.installationStatistics, "/v1/apps/\(app)/installations/statistics")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.EventReceipts {
    /// Reports which messages the sampled devices showed, and how soon after their acceptance.
    public static func eventReceipts(_ key: String) -> Self {
        Self(.eventReceipts, "/v1/events/\(key)/receipts")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.QuotaPage {
    /// Lists how much of each app's limit is taken.
    public static func listQuotas() -> Self {
        Self(.listQuotas, "/v1/quotas")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.QuotaHistory {
    /// Lists how much of each app's limit was taken, step by step.
    public static func listQuotaHistory(
        bundleId: String? = nil, environment: Contract.Environment? = nil, from: Date? = nil, to: Date? = nil,
        step: String? = nil
    ) -> Self {
        Self(
            .listQuotaHistory, "/v1/quotas/history",
            [("bundleId", bundleId), ("environment", environment), ("from", from), ("to", to), ("step", step)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.AuditPage {
    /// Lists changes and who made them, the newest first.
    public static func listAuditLog(
        actor: String? = nil, action: Contract.AuditAction? = nil, bundleId: String? = nil, from: Date? = nil,
        to: Date? = nil
    ) -> Self {
        Self(
            .listAuditLog, "/v1/audit-log",
            [("actor", actor), ("action", action), ("bundleId", bundleId), ("from", from), ("to", to)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.IssuedWebhook {
    /// Makes a webhook. Only this answer has its secret.
    public static func createWebhook(_ draft: GrandstandClient.WebhookDraft) -> Self {
        Self(.createWebhook, "/v1/webhooks", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func createWebhook(json: RawJSON) -> Self {
        Self(.createWebhook, "/v1/webhooks", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookPage {
    /// Lists the webhooks that the key may hear of, the oldest first.
    public static func listWebhooks() -> Self {
        Self(.listWebhooks, "/v1/webhooks")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Webhook {
    /// Shows a webhook.
    public static func getWebhook(_ id: String) -> Self {
        Self(.getWebhook, "/v1/webhooks/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Webhook {
    /// Replaces the declaration of a webhook. Its secret stays.
    public static func putWebhook(_ id: String, _ draft: GrandstandClient.WebhookDraft) -> Self {
        Self(.putWebhook, "/v1/webhooks/\(id)", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putWebhook(_ id: String, json: RawJSON) -> Self {
        Self(.putWebhook, "/v1/webhooks/\(id)", body: json)
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Removes a webhook and its log.
    public static func deleteWebhook(_ id: String) -> Self {
        Self(.deleteWebhook, "/v1/webhooks/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.IssuedWebhook {
    /// Makes another secret. The old one signs, too, until the overlap is over.
    public static func rotateWebhookSecret(_ id: String, overlapSeconds: Int? = nil) -> Self {
        Self(
            .rotateWebhookSecret, "/v1/webhooks/\(id)/secret",
            body: Contract.WebhookRotation(overlapSeconds: overlapSeconds))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookDelivery {
    /// Posts a message of type webhook.test.
    public static func testWebhook(_ id: String) -> Self {
        Self(.testWebhook, "/v1/webhooks/\(id)/test")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookDeliveryPage {
    /// Lists messages to a webhook, the newest first.
    public static func listWebhookDeliveries(
        of id: String, state: Contract.WebhookDeliveryState? = nil, topic: Contract.WebhookMessageType? = nil
    ) -> Self {
        Self(.listWebhookDeliveries, "/v1/webhooks/\(id)/deliveries", [("state", state), ("topic", topic)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookDeliveryLog {
    /// Shows a delivery, its message and every attempt.
    public static func getWebhookDelivery(_ delivery: String, of id: String) -> Self {
        Self(.getWebhookDelivery, "/v1/webhooks/\(id)/deliveries/\(delivery)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookDelivery {
    /// Posts a message again, with a whole round of retries.
    public static func replayWebhookDelivery(_ delivery: String, of id: String) -> Self {
        Self(.replayWebhookDelivery, "/v1/webhooks/\(id)/deliveries/\(delivery)/replay")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.IssuedKey {
    /// Makes a key. Only this answer has its secret.
    public static func createKey(
        name: String, scopes: [Contract.Scope], bundleId: String? = nil, bundleIds: [String]? = nil,
        expiresAt: Date? = nil
    ) -> Self {
        Self(
            .createKey, "/v1/keys",
            body: Contract.KeyDraft(
                name: name, scopes: scopes, bundleId: bundleId, bundleIds: bundleIds, expiresAt: expiresAt))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.KeyPage {
    /// Lists keys, the newest first.
    public static func listKeys() -> Self {
        Self(.listKeys, "/v1/keys")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Key {
    /// Shows a key.
    public static func getKey(_ id: String) -> Self {
        Self(.getKey, "/v1/keys/\(id)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Revokes a key at once, on every replica within a second.
    public static func revokeKey(_ id: String) -> Self {
        Self(.revokeKey, "/v1/keys/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.IssuedKey {
    /// Makes a new key in place of one, which can be used until the overlap is over.
    public static func rotateKey(_ id: String, overlapSeconds: Int? = nil) -> Self {
        Self(.rotateKey, "/v1/keys/\(id)/rotations", body: Contract.RotationDraft(overlapSeconds: overlapSeconds))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Health {
    /// Says that the process runs.
    public static func health() -> Self {
        Self(.health, "/healthz")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Readiness {
    /// Says whether the database can be reached, takes writes, and has the schema that this server needs.
    public static func readiness() -> Self {
        Self(.readiness, "/readyz").answering(503)
    }
}
