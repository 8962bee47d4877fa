// Generated from openapi.yaml by `make contract`. Do not edit.

extension Contract.Operation {
    /// Lists apps.
    public static let listApps = Self(
        "listApps", "GET", "/v1/apps",
        scopes: [], query: ["limit", "cursor"], keepsAnswers: false)

    /// Registers an app or changes it.
    public static let putApp = Self(
        "putApp", "PUT", "/v1/apps/{bundleId}",
        scopes: [.admin], query: [], keepsAnswers: false)

    /// Shows an app, its key files and its quirks.
    public static let getApp = Self(
        "getApp", "GET", "/v1/apps/{bundleId}",
        scopes: [], query: [], keepsAnswers: false)

    /// Removes an app that has no channels.
    public static let deleteApp = Self(
        "deleteApp", "DELETE", "/v1/apps/{bundleId}",
        scopes: [.admin], query: [], keepsAnswers: false)

    /// Lists the content types of an app.
    public static let listContents = Self(
        "listContents", "GET", "/v1/apps/{bundleId}/contents",
        scopes: [.organise], query: ["limit", "cursor"], keepsAnswers: false)

    /// Declares a content type or changes it.
    public static let putContent = Self(
        "putContent", "PUT", "/v1/apps/{bundleId}/contents/{attributesType}",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Shows a content type.
    public static let getContent = Self(
        "getContent", "GET", "/v1/apps/{bundleId}/contents/{attributesType}",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Removes a content type.
    public static let deleteContent = Self(
        "deleteContent", "DELETE", "/v1/apps/{bundleId}/contents/{attributesType}",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Creates a channel at Apple, within the quota.
    public static let createChannel = Self(
        "createChannel", "POST", "/v1/apps/{bundleId}/{environment}/channels",
        scopes: [.operate], query: [], keepsAnswers: true)

    /// Lists channels. managed=false lists those that only Apple's list has.
    public static let listChannels = Self(
        "listChannels", "GET", "/v1/apps/{bundleId}/{environment}/channels",
        scopes: [.operate], query: ["limit", "cursor", "state", "storagePolicy", "eventKey", "channelId", "managed"],
        keepsAnswers: false)

    /// Takes over a channel that another system created.
    public static let importChannel = Self(
        "importChannel", "POST", "/v1/apps/{bundleId}/{environment}/channels/import",
        scopes: [.operate], query: [], keepsAnswers: true)

    /// Shows a channel. With verify=true the server asks Apple.
    public static let getChannel = Self(
        "getChannel", "GET", "/v1/apps/{bundleId}/{environment}/channels/{id}",
        scopes: [.operate], query: ["verify"], keepsAnswers: false)

    /// Deletes a channel at Apple.
    public static let deleteChannel = Self(
        "deleteChannel", "DELETE", "/v1/apps/{bundleId}/{environment}/channels/{id}",
        scopes: [.operate], query: ["force"], keepsAnswers: false)

    /// Sends to a channel without an event.
    public static let broadcastToChannel = Self(
        "broadcastToChannel", "POST", "/v1/apps/{bundleId}/{environment}/channels/{id}/broadcasts",
        scopes: [.organise], query: [], keepsAnswers: true)

    /// Compares Apple's list of channels with the ledger, and corrects differences if asked to.
    public static let reconcile = Self(
        "reconcile", "POST", "/v1/apps/{bundleId}/{environment}/reconciliations",
        scopes: [.operate], query: [], keepsAnswers: true)

    /// Lists reports, the newest first.
    public static let listReconciliations = Self(
        "listReconciliations", "GET", "/v1/apps/{bundleId}/{environment}/reconciliations",
        scopes: [.operate], query: ["limit", "cursor"], keepsAnswers: false)

    /// Shows a report.
    public static let getReconciliation = Self(
        "getReconciliation", "GET", "/v1/apps/{bundleId}/{environment}/reconciliations/{id}",
        scopes: [.operate], query: [], keepsAnswers: false)

    /// Lists events in the order in which they were declared.
    public static let listEvents = Self(
        "listEvents", "GET", "/v1/events",
        scopes: [.organise],
        query: ["limit", "cursor", "state", "kind", "season", "bundleId", "from", "to", "overdue"], keepsAnswers: false)

    /// Declares an event. The server creates its channels.
    public static let putEvent = Self(
        "putEvent", "PUT", "/v1/events/{key}",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Shows an event and the channel of each audience.
    public static let getEvent = Self(
        "getEvent", "GET", "/v1/events/{key}",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Cancels an event and retires its channels.
    public static let cancelEvent = Self(
        "cancelEvent", "DELETE", "/v1/events/{key}",
        scopes: [.organise], query: ["end"], keepsAnswers: false)

    /// Changes some members of an event.
    public static let patchEvent = Self(
        "patchEvent", "PATCH", "/v1/events/{key}",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Takes an event's end or cancellation back.
    public static let reopenEvent = Self(
        "reopenEvent", "POST", "/v1/events/{key}/reopen",
        scopes: [.organise], query: [], keepsAnswers: true)

    /// Starts the event's Live Activity now, for everyone who follows it.
    public static let startEvent = Self(
        "startEvent", "POST", "/v1/events/{key}/starts",
        scopes: [.organise], query: [], keepsAnswers: true)

    /// Reports on the event's start, in all and for each audience.
    public static let getStart = Self(
        "getStart", "GET", "/v1/events/{key}/starts",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Stops an event's start: pushes that were not sent yet are not sent.
    public static let stopStart = Self(
        "stopStart", "DELETE", "/v1/events/{key}/starts",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Lists the topics that installations follow, the most followed first.
    public static let listTopics = Self(
        "listTopics", "GET", "/v1/apps/{bundleId}/{environment}/topics",
        scopes: [.organise], query: ["limit", "cursor"], keepsAnswers: false)

    /// Sends an update or the end of an event.
    public static let broadcast = Self(
        "broadcast", "POST", "/v1/events/{key}/broadcasts",
        scopes: [.organise], query: [], keepsAnswers: true)

    /// Lists broadcasts of an event, the newest first.
    public static let listBroadcasts = Self(
        "listBroadcasts", "GET", "/v1/events/{key}/broadcasts",
        scopes: [.organise], query: ["limit", "cursor", "scheduled"], keepsAnswers: false)

    /// Shows what a broadcast would send, and sends nothing.
    public static let previewBroadcast = Self(
        "previewBroadcast", "POST", "/v1/events/{key}/broadcasts/preview",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Reports the state of an event, as often as a feed has it.
    public static let putState = Self(
        "putState", "PUT", "/v1/events/{key}/state",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Shows what a state would send, and sends nothing.
    public static let previewState = Self(
        "previewState", "POST", "/v1/events/{key}/state/preview",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Sends up to 500 broadcasts in one request. Each is accepted or refused by itself, and all accepted ones are
    /// stored in one commit.
    public static let broadcastMany = Self(
        "broadcastMany", "POST", "/v1/broadcasts",
        scopes: [.organise], query: [], keepsAnswers: true)

    /// Shows a broadcast and its deliveries.
    public static let getBroadcast = Self(
        "getBroadcast", "GET", "/v1/broadcasts/{id}",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Withdraws a broadcast that was sent to nobody yet.
    public static let cancelBroadcast = Self(
        "cancelBroadcast", "DELETE", "/v1/broadcasts/{id}",
        scopes: [.organise], query: [], keepsAnswers: false)

    /// Finds the channel of an event, for an app that starts a Live Activity.
    public static let lookup = Self(
        "lookup", "GET", "/v1/lookup/{bundleId}/{environment}/{key}",
        scopes: [.lookup], query: ["include", "variant"], keepsAnswers: false)

    /// Lists the events that an app may offer to follow, by startsAt.
    public static let lookupList = Self(
        "lookupList", "GET", "/v1/lookup/{bundleId}/{environment}",
        scopes: [.lookup], query: ["topic", "from", "to", "state", "variant", "limit", "cursor"], keepsAnswers: false)

    /// Finds the channels of up to 100 events.
    public static let lookupMany = Self(
        "lookupMany", "POST", "/v1/lookup/{bundleId}/{environment}",
        scopes: [.lookup], query: ["variant"], keepsAnswers: false)

    /// Registers an installation of the app, or changes its state.
    public static let putInstallation = Self(
        "putInstallation", "PUT", "/v1/apps/{bundleId}/{environment}/installations/{installationId}",
        scopes: [.device], query: [], keepsAnswers: false)

    /// Shows an installation to its own app.
    public static let getInstallation = Self(
        "getInstallation", "GET", "/v1/apps/{bundleId}/{environment}/installations/{installationId}",
        scopes: [.device], query: [], keepsAnswers: false)

    /// Deletes all data of an installation, at once and permanently.
    public static let forgetInstallation = Self(
        "forgetInstallation", "DELETE", "/v1/apps/{bundleId}/{environment}/installations/{installationId}",
        scopes: [.device], query: [], keepsAnswers: false)

    /// Reports an activity, confirms its start, adds or replaces its update token.
    public static let putActivity = Self(
        "putActivity", "PUT",
        "/v1/apps/{bundleId}/{environment}/installations/{installationId}/activities/{activityId}",
        scopes: [.device], query: [], keepsAnswers: false)

    /// Deletes an activity.
    public static let forgetActivity = Self(
        "forgetActivity", "DELETE",
        "/v1/apps/{bundleId}/{environment}/installations/{installationId}/activities/{activityId}",
        scopes: [.device], query: [], keepsAnswers: false)

    /// Shows numbers of an app's installations.
    public static let installationStatistics = Self(
        "installationStatistics", "GET", "/v1/apps/{bundleId}/{environment}/installations/statistics",
        scopes: [.organise, .operate], query: [], keepsAnswers: false)

    /// Lists how much of each app's limit is taken.
    public static let listQuotas = Self(
        "listQuotas", "GET", "/v1/quotas",
        scopes: [.operate], query: ["limit", "cursor"], keepsAnswers: false)

    /// Lists how much of each app's limit was used over time.
    public static let listQuotaHistory = Self(
        "listQuotaHistory", "GET", "/v1/quotas/history",
        scopes: [.operate], query: ["bundleId", "environment", "from", "to", "step"], keepsAnswers: false)

    /// Lists changes and who made them, the newest first.
    public static let listAuditLog = Self(
        "listAuditLog", "GET", "/v1/audit-log",
        scopes: [.operate, .organise],
        query: ["limit", "cursor", "actor", "action", "bundleId", "event", "from", "to"], keepsAnswers: false)

    /// Creates a webhook. Only the first answer has its secret.
    public static let createWebhook = Self(
        "createWebhook", "POST", "/v1/webhooks",
        scopes: [.operate, .organise], query: [], keepsAnswers: true, shownOnce: "secret")

    /// Lists the webhooks that the key can access, the oldest first.
    public static let listWebhooks = Self(
        "listWebhooks", "GET", "/v1/webhooks",
        scopes: [.operate, .organise], query: ["limit", "cursor", "declaredBy"], keepsAnswers: false)

    /// Shows a webhook.
    public static let getWebhook = Self(
        "getWebhook", "GET", "/v1/webhooks/{id}",
        scopes: [.operate, .organise], query: [], keepsAnswers: false)

    /// Replaces the declaration of a webhook. Its secret stays.
    public static let putWebhook = Self(
        "putWebhook", "PUT", "/v1/webhooks/{id}",
        scopes: [.operate, .organise], query: [], keepsAnswers: false)

    /// Removes a webhook and its log.
    public static let deleteWebhook = Self(
        "deleteWebhook", "DELETE", "/v1/webhooks/{id}",
        scopes: [.operate, .organise], query: [], keepsAnswers: false)

    /// Creates a new secret. The old one signs, too, until the overlap is over.
    public static let rotateWebhookSecret = Self(
        "rotateWebhookSecret", "POST", "/v1/webhooks/{id}/secret",
        scopes: [.operate, .organise], query: [], keepsAnswers: true, shownOnce: "secret")

    /// Posts a message of type webhook.test.
    public static let testWebhook = Self(
        "testWebhook", "POST", "/v1/webhooks/{id}/test",
        scopes: [.operate, .organise], query: [], keepsAnswers: true)

    /// Lists messages to a webhook, the newest first.
    public static let listWebhookDeliveries = Self(
        "listWebhookDeliveries", "GET", "/v1/webhooks/{id}/deliveries",
        scopes: [.operate, .organise], query: ["limit", "cursor", "state", "topic"], keepsAnswers: false)

    /// Shows a delivery, its message and every attempt.
    public static let getWebhookDelivery = Self(
        "getWebhookDelivery", "GET", "/v1/webhooks/{id}/deliveries/{delivery}",
        scopes: [.operate, .organise], query: [], keepsAnswers: false)

    /// Sends a message again, with a full round of retries.
    public static let replayWebhookDelivery = Self(
        "replayWebhookDelivery", "POST", "/v1/webhooks/{id}/deliveries/{delivery}/replay",
        scopes: [.operate, .organise], query: [], keepsAnswers: true)

    /// Creates a key. Only the first answer has its secret.
    public static let createKey = Self(
        "createKey", "POST", "/v1/keys",
        scopes: [.admin], query: [], keepsAnswers: true, shownOnce: "secret")

    /// Lists keys, the newest first.
    public static let listKeys = Self(
        "listKeys", "GET", "/v1/keys",
        scopes: [.admin], query: ["limit", "cursor"], keepsAnswers: false)

    /// Shows a key.
    public static let getKey = Self(
        "getKey", "GET", "/v1/keys/{id}",
        scopes: [.admin], query: [], keepsAnswers: false)

    /// Revokes a key at once, on every replica within a second.
    public static let revokeKey = Self(
        "revokeKey", "DELETE", "/v1/keys/{id}",
        scopes: [.admin], query: ["disableWebhooks"], keepsAnswers: false)

    /// Creates a new key in place of this one, which stays valid until the overlap is over.
    public static let rotateKey = Self(
        "rotateKey", "POST", "/v1/keys/{id}/rotations",
        scopes: [.admin], query: [], keepsAnswers: true, shownOnce: "secret")

    /// Answers while the process runs.
    public static let health = Self(
        "health", "GET", "/healthz",
        scopes: nil, query: [], keepsAnswers: false)

    /// Says whether the server can use its database, and if not, why.
    public static let readiness = Self(
        "readiness", "GET", "/readyz",
        scopes: nil, query: [], keepsAnswers: false)

    /// Shows metrics in the text format of Prometheus.
    public static let metrics = Self(
        "metrics", "GET", "/metrics",
        scopes: [.operate], query: [], keepsAnswers: false)

    /// Shows this document.
    public static let contract = Self(
        "contract", "GET", "/openapi.yaml",
        scopes: nil, query: [], keepsAnswers: false)

    /// Every operation, in the order of openapi.yaml.
    public static let all: [Self] = [
        .listApps,
        .putApp,
        .getApp,
        .deleteApp,
        .listContents,
        .putContent,
        .getContent,
        .deleteContent,
        .createChannel,
        .listChannels,
        .importChannel,
        .getChannel,
        .deleteChannel,
        .broadcastToChannel,
        .reconcile,
        .listReconciliations,
        .getReconciliation,
        .listEvents,
        .putEvent,
        .getEvent,
        .cancelEvent,
        .patchEvent,
        .reopenEvent,
        .startEvent,
        .getStart,
        .stopStart,
        .listTopics,
        .broadcast,
        .listBroadcasts,
        .previewBroadcast,
        .putState,
        .previewState,
        .broadcastMany,
        .getBroadcast,
        .cancelBroadcast,
        .lookup,
        .lookupList,
        .lookupMany,
        .putInstallation,
        .getInstallation,
        .forgetInstallation,
        .putActivity,
        .forgetActivity,
        .installationStatistics,
        .listQuotas,
        .listQuotaHistory,
        .listAuditLog,
        .createWebhook,
        .listWebhooks,
        .getWebhook,
        .putWebhook,
        .deleteWebhook,
        .rotateWebhookSecret,
        .testWebhook,
        .listWebhookDeliveries,
        .getWebhookDelivery,
        .replayWebhookDelivery,
        .createKey,
        .listKeys,
        .getKey,
        .revokeKey,
        .rotateKey,
        .health,
        .readiness,
        .metrics,
        .contract,
    ]
}
