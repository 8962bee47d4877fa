// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient {
    /// A page of a list.
    public typealias Page = Contract.Page
    /// APNs has two environments, each with its own tokens and channels.
    public typealias Environment = Contract.Environment
    /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy for
    /// its whole life.
    public typealias StoragePolicy = Contract.StoragePolicy
    /// The state of a channel, as the server knows it.
    public typealias ChannelState = Contract.ChannelState
    /// The state of an event.
    public typealias EventState = Contract.EventState
    /// The states of events that people can still follow.
    public typealias FollowableState = Contract.FollowableState
    /// The state of the message to one audience.
    public typealias DeliveryState = Contract.DeliveryState
    /// The state of a broadcast, from all of its deliveries.
    public typealias BroadcastState = Contract.BroadcastState
    /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
    public typealias BroadcastKind = Contract.BroadcastKind
    /// How a message reaches its devices.
    public typealias DeliveryKind = Contract.DeliveryKind
    /// How an audience's activities get messages. Left out: channel.
    public typealias AudienceDelivery = Contract.AudienceDelivery
    /// The state of an audience's channel, for organisers.
    public typealias AudienceChannelState = Contract.AudienceChannelState
    /// What happened to an audience's channel when its event was reopened.
    public typealias ChannelFate = Contract.ChannelFate
    /// What a key allows.
    public typealias Scope = Contract.Scope
    /// Whether a key can be used.
    public typealias KeyState = Contract.KeyState
    /// Whether the server can sign requests to Apple for an app in an environment.
    public typealias CredentialState = Contract.CredentialState
    /// What the server learned about APNs and an app.
    public typealias QuirkName = Contract.QuirkName
    /// The value of a quirk.
    public typealias QuirkValue = Contract.QuirkValue
    /// The state of an event's start.
    public typealias StartState = Contract.StartState
    /// What a start waits for.
    public typealias StartWait = Contract.StartWait
    /// The state of a Live Activity, as ActivityKit reports it to the app.
    public typealias ActivityState = Contract.ActivityState
    /// Why a lookup of one event in a batch found no channel.
    public typealias MissingReason = Contract.MissingReason
    /// How full an app's quota of channels is.
    public typealias QuotaLevel = Contract.QuotaLevel
    /// An alarm of an app. It stands until its cause is gone. The gravest comes first.
    public typealias QuotaAlarm = Contract.QuotaAlarm
    /// Why a reconciliation asks a person to decide.
    public typealias ReconciliationAlarm = Contract.ReconciliationAlarm
    /// One step that brings Apple's list and the ledger together.
    public typealias ReconciliationActionName = Contract.ReconciliationActionName
    /// Whether APNs could be reached lately.
    public typealias APNsReachability = Contract.APNsReachability
    /// Whether this server can take requests.
    public typealias ReadinessStatus = Contract.ReadinessStatus
    /// Whether the database can be used.
    public typealias DatabaseState = Contract.DatabaseState
    /// What is wrong with the database, by what an operator has to do.
    public typealias DatabaseTrouble = Contract.DatabaseTrouble
    /// What a webhook can subscribe to. Each topic names the scopes of which a key needs one.
    public typealias WebhookTopic = Contract.WebhookTopic
    /// The type of a message to a webhook: a topic, or the test.
    public typealias WebhookMessageType = Contract.WebhookMessageType
    /// The state of a message to one webhook.
    public typealias WebhookDeliveryState = Contract.WebhookDeliveryState
    /// One of the two interfaces of APNs that can be throttled.
    public typealias APNsAPI = Contract.APNsAPI
    /// What a lookup adds.
    public typealias LookupInclude = Contract.LookupInclude
    /// The action.
    public typealias AuditAction = Contract.AuditAction
    /// One place in the request that is wrong.
    public typealias FieldError = Contract.FieldError
    /// What APNs answered when it refused a call.
    public typealias APNsRefusal = Contract.APNsRefusal
    /// What happens to a content that a version of the app cannot decode.
    public typealias ContentCheck = Contract.ContentCheck
    /// What the server did with a state.
    public typealias StateOutcome = Contract.StateOutcome
    /// How a message came to the server.
    public typealias MessageSource = Contract.MessageSource
    /// What an app's activities of one type can decode, and what sends an alert.
    public typealias ContentTypeDraft = Contract.ContentTypeDraft
    /// What one version of the app can decode.
    public typealias ContentVersion = Contract.ContentVersion
    /// Which changes of a state are quiet and which send an alert.
    public typealias StateRules = Contract.StateRules
    /// A change that sends an alert, and the alert.
    public typealias RingRule = Contract.RingRule
    /// Exactly one of increases, decreases, changes, becomes and appears. It is refused if no version's schema has such
    /// a value there.
    public typealias RingCondition = Contract.RingCondition
    /// A content type as it was declared.
    public typealias ContentType = Contract.ContentType
    /// A live event whose newest content a content type would refuse.
    public typealias ContentMismatch = Contract.ContentMismatch
    /// A page of content types.
    public typealias ContentTypePage = Contract.ContentTypePage
    /// The whole state of an event, as a feed has it.
    public typealias StateDraft = Contract.StateDraft
    /// What the audiences of one variant show instead.
    public typealias VariantState = Contract.VariantState
    /// The broadcast that a state became, or that nothing has changed.
    public typealias StateAnswer = Contract.StateAnswer
    /// The answer to a state that changes nothing.
    public typealias UnchangedState = Contract.UnchangedState
    /// What a state would send now.
    public typealias StatePreview = Contract.StatePreview
    /// An app as an admin declares it.
    public typealias AppDraft = Contract.AppDraft
    /// The console shows a contentState as plain text, as a lock screen would. These Mustache templates write that
    /// text. They may have names (`{{home}}`, `{{team.name}}`, `{{.}}`), sections, inverted sections and comments, but
    /// no partials, lambdas or other delimiters. A template that cannot be read is refused (422). Of a text 200
    /// characters are shown, of all 1,000.
    public typealias AppPreview = Contract.AppPreview
    /// What differs from the app's own team and key, by environment.
    public typealias Overrides = Contract.Overrides
    /// Another team or key for one environment.
    public typealias Override = Contract.Override
    /// An app, and how the server signs for it.
    public typealias App = Contract.App
    /// APNs refuses the provider tokens that a key signs. After two refusals in a row requests wait, and one is sent
    /// every three seconds, until APNs accepts one or the key file is replaced.
    public typealias CredentialRefusal = Contract.CredentialRefusal
    /// An app as the keys in client apps see it.
    public typealias AppName = Contract.AppName
    /// A page of apps.
    public typealias AppPage = Contract.AppPage
    /// A page of apps as the keys in client apps see them.
    public typealias AppNamePage = Contract.AppNamePage
    /// Something that the server learned about APNs for an app in an environment.
    public typealias Quirk = Contract.Quirk
    /// A channel to be created at Apple, without an event.
    public typealias ChannelDraft = Contract.ChannelDraft
    /// A channel that was made elsewhere.
    public typealias ChannelImport = Contract.ChannelImport
    /// A channel of the ledger, or with managed=false one that only Apple's list has. In the latter, id, eventKey,
    /// label, reason and nextAttemptAt are null; it has firstSeenAt, but no state and no createdAt.
    public typealias Channel = Contract.Channel
    /// Apple's present answer about a channel. Only with verify=true.
    public typealias Verification = Contract.Verification
    /// A page of channels.
    public typealias ChannelPage = Contract.ChannelPage
    /// People to whom an event is shown: one app in one environment, and perhaps a variant. Each audience has a channel
    /// of its own.
    public typealias Audience = Contract.Audience
    /// Selects audiences of an event. Without variant: all of the app and environment.
    public typealias AudienceSelector = Contract.AudienceSelector
    /// An event as an organiser declares it. The server creates its channels.
    public typealias EventDraft = Contract.EventDraft
    /// Defaults for an event's messages.
    public typealias EventDefaults = Contract.EventDefaults
    /// An event as it was declared, with its state. metadata keeps the declared bytes.
    public typealias Event = Contract.Event
    /// An event after its end or cancellation was taken back.
    public typealias ReopenedEvent = Contract.ReopenedEvent
    /// What happened to one audience's channel when its event was reopened.
    public typealias ReopenedChannel = Contract.ReopenedChannel
    /// Which audiences to open again.
    public typealias ReopenOrder = Contract.ReopenOrder
    /// An audience of an event, with its channel.
    public typealias EventAudience = Contract.EventAudience
    /// The state of an audience's channel.
    public typealias AudienceChannel = Contract.AudienceChannel
    /// A page of events.
    public typealias EventPage = Contract.EventPage
    /// The push that starts the event's Live Activity for everyone who follows one of its topics, once each. It shows
    /// the newest accepted content. contentState is shown until there is some; without contentState no push is sent
    /// before. With its longest alert the push may have 4,096 bytes (413 payload-too-large).
    public typealias StartDraft = Contract.StartDraft
    /// The start of an event as it was declared. Members that were left out are null.
    public typealias Start = Contract.Start
    /// How to start.
    public typealias StartOrder = Contract.StartOrder
    /// Followers by the result of their start. followers is the sum of accepted, rejected, unknown, pending and the
    /// numbers in ineligible.
    public typealias StartCounts = Contract.StartCounts
    /// Followers who get no start, by the reason.
    public typealias IneligibleCounts = Contract.IneligibleCounts
    /// The progress of an event's start, in all and for each audience.
    public typealias StartReport = Contract.StartReport
    /// The progress of a start for one app and environment.
    public typealias AudienceStart = Contract.AudienceStart
    /// A topic, and how many follow it.
    public typealias FollowedTopic = Contract.FollowedTopic
    /// A page of topics.
    public typealias TopicPage = Contract.TopicPage
    /// What an app needs to start a Live Activity for an event.
    public typealias Lookup = Contract.Lookup
    /// An event that an app may offer to follow.
    public typealias Followable = Contract.Followable
    /// A page of events that an app may offer to follow.
    public typealias FollowablePage = Contract.FollowablePage
    /// Which events to look up.
    public typealias LookupBatch = Contract.LookupBatch
    /// The lookups that found a channel, and the reason for each that did not.
    public typealias LookupBatchAnswer = Contract.LookupBatchAnswer
    /// An event of a batch without a channel.
    public typealias MissingLookup = Contract.MissingLookup
    /// A text for people, or the key of a text that the app translates.
    public typealias LocalizedText = Contract.LocalizedText
    /// A text that the app translates.
    public typealias LocalizedKey = Contract.LocalizedKey
    /// Makes the device ring and light up. It needs a title or a body that is not empty, and has no empty title. The
    /// message is sent with the alert until it expires, or for 15 minutes (GRANDSTAND_ALERT_FRESH) if it has neither
    /// expiresIn nor an apnsExpiration other than 0. After that its content is sent as a plain update. If APNs refuses
    /// the alert, it goes again with the newest content.
    public typealias Alert = Contract.Alert
    /// When a broadcast is sent: at a time, or a number of seconds after startsAt of its event. The latter moves with
    /// the event while the broadcast is scheduled, and waits while startsAt is unset. It is refused if the event has no
    /// startsAt when the broadcast is made. A time in the past means at once.
    public typealias SendTime = Contract.SendTime
    /// A time relative to the start of the event.
    public typealias AfterStart = Contract.AfterStart
    /// A message to everybody who follows an event, or to a channel.
    public typealias BroadcastDraft = Contract.BroadcastDraft
    /// What the audiences of one variant get instead.
    public typealias VariantContent = Contract.VariantContent
    /// A broadcast of a batch.
    public typealias BroadcastItem = Contract.BroadcastItem
    /// Broadcasts that are accepted in one commit, each on its own.
    public typealias BroadcastBatch = Contract.BroadcastBatch
    /// The result of each broadcast of a batch.
    public typealias BroadcastBatchResult = Contract.BroadcastBatchResult
    /// A broadcast of a batch that was accepted, or why it was refused.
    public typealias BroadcastOutcome = Contract.BroadcastOutcome
    /// A broadcast of a batch that was refused.
    public typealias RefusedBroadcast = Contract.RefusedBroadcast
    /// An accepted broadcast and its deliveries.
    public typealias Broadcast = Contract.Broadcast
    /// A page of broadcasts.
    public typealias BroadcastPage = Contract.BroadcastPage
    /// What a broadcast would send if it were accepted now.
    public typealias BroadcastPreview = Contract.BroadcastPreview
    /// What one audience would get.
    public typealias AudiencePreview = Contract.AudiencePreview
    /// A content as text, by the app's templates.
    public typealias RenderedPreview = Contract.RenderedPreview
    /// The message of a broadcast to one audience.
    public typealias Delivery = Contract.Delivery
    /// Only for a delivery to tokens: activities by the result of their push. An activity that was not reached before a
    /// newer message gets the newer one instead. The answer to a call with an Idempotency-Key has not counted them yet.
    public typealias TokenCounts = Contract.TokenCounts
    /// How many channels an app has in one environment, and how many it will have.
    public typealias Quota = Contract.Quota
    /// APNs refuses the provider tokens of the key that signs for the app, so nothing is sent. See CredentialRefusal.
    public typealias KeyRefused = Contract.KeyRefused
    /// APNs answered 429 to several lanes of the app, so the server sends the app's messages at a rate that it learns
    /// from the answers. The throttling ends 300 to 330 seconds after the last 429.
    public typealias Throttled = Contract.Throttled
    /// How many channels Apple listed, and when.
    public typealias AppleCount = Contract.AppleCount
    /// How many channels there will be: those that exist and until when, and those that events will need, if each ends
    /// at its endsAt without further messages. At the limit, an event that starts within the hour takes the place of
    /// one that ended more than ten minutes before. Never less than used and reserved together.
    public typealias Forecast = Contract.Forecast
    /// A page of quotas.
    public typealias QuotaPage = Contract.QuotaPage
    /// How much of each app's limit was used over time.
    public typealias QuotaHistory = Contract.QuotaHistory
    /// One step of one app in one environment.
    public typealias QuotaSample = Contract.QuotaSample
    /// What a reconciliation may do.
    public typealias ReconciliationDraft = Contract.ReconciliationDraft
    /// A comparison of Apple's list with the ledger. In lists a long report is abridged: it has abridged=true instead
    /// of missing, unmanaged and actions. GET of the report has them.
    public typealias Reconciliation = Contract.Reconciliation
    /// A channel of the ledger that Apple's list lacks.
    public typealias MissingChannel = Contract.MissingChannel
    /// A channel in Apple's list that the ledger lacks.
    public typealias UnmanagedChannel = Contract.UnmanagedChannel
    /// One step of a reconciliation, and whether it was done.
    public typealias ReconciliationAction = Contract.ReconciliationAction
    /// A page of reports.
    public typealias ReconciliationPage = Contract.ReconciliationPage
    /// One change, who made it, and what Apple answered.
    public typealias AuditEntry = Contract.AuditEntry
    /// The recorded part of Apple's answer to a call.
    public typealias AuditAnswer = Contract.AuditAnswer
    /// A page of the audit log.
    public typealias AuditPage = Contract.AuditPage
    /// A key to be created.
    public typealias KeyDraft = Contract.KeyDraft
    /// How long the old key stays valid.
    public typealias RotationDraft = Contract.RotationDraft
    /// A key, without its secret.
    public typealias Key = Contract.Key
    /// A new key, with its secret.
    public typealias IssuedKey = Contract.IssuedKey
    /// A page of keys.
    public typealias KeyPage = Contract.KeyPage
    /// The whole state of an installation. A member that is left out is cleared.
    public typealias InstallationDraft = Contract.InstallationDraft
    /// A push-to-start token.
    public typealias StartTokenDraft = Contract.StartTokenDraft
    /// The answer to a registration or a report.
    public typealias Registered = Contract.Registered
    /// An installation as its own app sees it.
    public typealias Installation = Contract.Installation
    /// A push-to-start token as the server knows it.
    public typealias StartToken = Contract.StartToken
    /// What an app reports of a Live Activity.
    public typealias ActivityDraft = Contract.ActivityDraft
    /// A Live Activity that an installation reported.
    public typealias Activity = Contract.Activity
    /// Statistics of an app's installations in one environment.
    public typealias InstallationStatistics = Contract.InstallationStatistics
    /// Counts of tokens.
    public typealias RegisteredTokens = Contract.RegisteredTokens
    /// The URL and the topics of a webhook.
    public typealias WebhookDraft = Contract.WebhookDraft
    /// How long the old secret signs, too.
    public typealias WebhookRotation = Contract.WebhookRotation
    /// The URL and the topics of a webhook.
    public typealias Webhook = Contract.Webhook
    /// A webhook with a new secret.
    public typealias IssuedWebhook = Contract.IssuedWebhook
    /// A page of webhooks.
    public typealias WebhookPage = Contract.WebhookPage
    /// A message to one webhook, and its state.
    public typealias WebhookDelivery = Contract.WebhookDelivery
    /// A delivery with its message and every attempt.
    public typealias WebhookDeliveryLog = Contract.WebhookDeliveryLog
    /// One attempt to post a message.
    public typealias WebhookAttempt = Contract.WebhookAttempt
    /// A page of deliveries.
    public typealias WebhookDeliveryPage = Contract.WebhookDeliveryPage
    /// The body that a receiver gets.
    public typealias WebhookMessage = Contract.WebhookMessage
    /// Every delivery of a broadcast has its final state, or the broadcast was withdrawn.
    public typealias BroadcastSettled = Contract.BroadcastSettled
    /// An event ended, was cancelled, or was reopened.
    public typealias EventStateChanged = Contract.EventStateChanged
    /// A channel no longer exists at Apple.
    public typealias ChannelLost = Contract.ChannelLost
    /// An audience has another channel than before. Apps must look it up again.
    public typealias ChannelReplaced = Contract.ChannelReplaced
    /// The channel that another one replaced.
    public typealias ReplacedChannel = Contract.ReplacedChannel
    /// The level of an app's quota changed.
    public typealias QuotaLevelChanged = Contract.QuotaLevelChanged
    /// A reconciliation found something new, changed something, or raised an alarm. GET of its report has the details.
    public typealias ReconciliationFound = Contract.ReconciliationFound
    /// The app lacks the broadcast capability at Apple.
    public typealias CapabilityOff = Contract.CapabilityOff
    /// APNs began to throttle an app. It answered 429 to several of its lanes.
    public typealias ThrottleBegan = Contract.ThrottleBegan
    /// APNs no longer throttles an app. No 429 came for 300 seconds.
    public typealias ThrottleEnded = Contract.ThrottleEnded
    /// Somebody sent a test to the webhook.
    public typealias WebhookTest = Contract.WebhookTest
    /// The process runs.
    public typealias Health = Contract.Health
    /// Whether the server can take requests.
    public typealias Readiness = Contract.Readiness
    /// Whether APNs was reached lately. It does not affect readiness, because accepted messages wait for APNs.
    public typealias APNsReadiness = Contract.APNsReadiness
    /// Whether one environment of APNs was reached lately.
    public typealias APNsState = Contract.APNsState
}
