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
    /// How the server sees a channel.
    public typealias ChannelState = Contract.ChannelState
    /// How far an event is.
    public typealias EventState = Contract.EventState
    /// The states of events that people can still follow.
    public typealias FollowableState = Contract.FollowableState
    /// How far the message to one audience, or a push to one token, is.
    public typealias DeliveryState = Contract.DeliveryState
    /// How far a broadcast or a push is, over all of its deliveries.
    public typealias BroadcastState = Contract.BroadcastState
    /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
    public typealias BroadcastKind = Contract.BroadcastKind
    /// What a push does to the Live Activity of its token.
    public typealias MessageKind = Contract.MessageKind
    /// How a message reaches its devices.
    public typealias DeliveryKind = Contract.DeliveryKind
    /// How the activities of an audience are reached. The organiser decides. Left out, it is channel.
    public typealias AudienceDelivery = Contract.AudienceDelivery
    /// How far the channel of an audience is, as organisers see it.
    public typealias AudienceChannelState = Contract.AudienceChannelState
    /// What became of an audience's channel when its event was opened again.
    public typealias ChannelFate = Contract.ChannelFate
    /// What a key may do.
    public typealias Scope = Contract.Scope
    /// Whether a key can be used.
    public typealias KeyState = Contract.KeyState
    /// Whether the server can sign for an app in an environment.
    public typealias CredentialState = Contract.CredentialState
    /// What the server learned about APNs and an app.
    public typealias QuirkName = Contract.QuirkName
    /// The value of a quirk.
    public typealias QuirkValue = Contract.QuirkValue
    /// How far the start of an event is.
    public typealias StartState = Contract.StartState
    /// What a start waits for.
    public typealias StartWait = Contract.StartWait
    /// The state of a Live Activity as ActivityKit tells it to the app.
    public typealias ActivityState = Contract.ActivityState
    /// Why a lookup of one event in a batch found no channel.
    public typealias MissingReason = Contract.MissingReason
    /// How much of an app's places are taken.
    public typealias QuotaLevel = Contract.QuotaLevel
    /// An alarm of an app that stands until its cause is gone. The gravest is listed first.
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
    /// What is wrong with the database, by what an operator has to do about it.
    public typealias DatabaseTrouble = Contract.DatabaseTrouble
    /// What a webhook can subscribe to. A key needs one of the scopes that stand with the topic.
    public typealias WebhookTopic = Contract.WebhookTopic
    /// What a message to a webhook is about. The topics, and the test that nobody subscribes to.
    public typealias WebhookMessageType = Contract.WebhookMessageType
    /// How far a message to one webhook is.
    public typealias WebhookDeliveryState = Contract.WebhookDeliveryState
    /// One of the two interfaces of APNs that can be throttled.
    public typealias APNsAPI = Contract.APNsAPI
    /// What a lookup adds.
    public typealias LookupInclude = Contract.LookupInclude
    /// What was done.
    public typealias AuditAction = Contract.AuditAction
    /// One place in the request that is wrong.
    public typealias FieldError = Contract.FieldError
    /// What APNs answered when it refused a call.
    public typealias APNsRefusal = Contract.APNsRefusal
    /// What happens to a content that a version of the app cannot decode.
    public typealias ContentCheck = Contract.ContentCheck
    /// How a time is written in a contentState.
    public typealias StampForm = Contract.StampForm
    /// What a state came to.
    public typealias StateOutcome = Contract.StateOutcome
    /// How a message came to the server.
    public typealias MessageSource = Contract.MessageSource
    /// What an app's activities of one type can decode, how messages are stamped, and what rings.
    public typealias ContentTypeDraft = Contract.ContentTypeDraft
    /// What one version of the app can decode.
    public typealias ContentVersion = Contract.ContentVersion
    /// The member of contentState that gets the message's aps.timestamp when it is sent, whatever it had before. A
    /// member that is not there is added. Every other byte stays. Its length counts when sizes are checked.
    public typealias Stamp = Contract.Stamp
    /// Which changes of a state are quiet and which ring.
    public typealias StateRules = Contract.StateRules
    /// A change that rings, and its alert.
    public typealias RingRule = Contract.RingRule
    /// Exactly one of increases, decreases, changes, becomes and appears.
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
    /// The broadcast that was made of a state, or that nothing is new.
    public typealias StateAnswer = Contract.StateAnswer
    /// The answer to a state that brings nothing new.
    public typealias UnchangedState = Contract.UnchangedState
    /// What a state would come to if it were told now.
    public typealias StatePreview = Contract.StatePreview
    /// What an admin declares of an app.
    public typealias AppDraft = Contract.AppDraft
    /// The console shows a contentState as plain text, as a lock screen would. These Mustache templates write that
    /// text. They may have names (`{{home}}`, `{{team.name}}`, `{{.}}`), sections, inverted sections and comments, but
    /// no partials, lambdas or other delimiters. A template that cannot be read is refused with the place (422).
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
    /// An app as keys see it that ship in client apps.
    public typealias AppName = Contract.AppName
    /// A page of apps.
    public typealias AppPage = Contract.AppPage
    /// A page of apps as keys see them that ship in client apps.
    public typealias AppNamePage = Contract.AppNamePage
    /// A correction of a quirk.
    public typealias QuirkDraft = Contract.QuirkDraft
    /// Something that the server learned about APNs for an app in an environment.
    public typealias Quirk = Contract.Quirk
    /// A channel to be created at Apple, without an event.
    public typealias ChannelDraft = Contract.ChannelDraft
    /// A channel that was made elsewhere.
    public typealias ChannelImport = Contract.ChannelImport
    /// A channel of the ledger, or with managed=false one that only Apple's list has. Of the latter id, eventKey,
    /// label, reason and nextAttemptAt are null. It has firstSeenAt and neither state nor createdAt.
    public typealias Channel = Contract.Channel
    /// What Apple says of a channel just now. Only with verify=true.
    public typealias Verification = Contract.Verification
    /// A page of channels.
    public typealias ChannelPage = Contract.ChannelPage
    /// People to whom an event is shown: one app in one environment, and perhaps a variant. Each audience has a channel
    /// of its own.
    public typealias Audience = Contract.Audience
    /// Names audiences of an event. Without variant all of the app and environment.
    public typealias AudienceSelector = Contract.AudienceSelector
    /// What an organiser declares of an event. The server makes its channels accordingly.
    public typealias EventDraft = Contract.EventDraft
    /// What an event's messages have that do not say otherwise.
    public typealias EventDefaults = Contract.EventDefaults
    /// An event as it was declared, and what became of it. metadata has the bytes that were declared.
    public typealias Event = Contract.Event
    /// An event after its end or cancellation was taken back.
    public typealias ReopenedEvent = Contract.ReopenedEvent
    /// What became of one audience's channel when its event was opened again.
    public typealias ReopenedChannel = Contract.ReopenedChannel
    /// Which audiences to open again.
    public typealias ReopenOrder = Contract.ReopenOrder
    /// An audience of an event, with its channel.
    public typealias EventAudience = Contract.EventAudience
    /// How far the channel of an audience is.
    public typealias AudienceChannel = Contract.AudienceChannel
    /// A page of events.
    public typealias EventPage = Contract.EventPage
    /// The push that starts the event's Live Activity for everyone who follows one of its topics, once each. It shows
    /// the newest accepted content; contentState is shown until there is some, and without it no push is made before.
    /// With the longest alert the push may have 4,096 bytes (413 payload-too-large).
    public typealias StartDraft = Contract.StartDraft
    /// The start of an event as it was declared. Members that were left out are null.
    public typealias Start = Contract.Start
    /// How to start.
    public typealias StartOrder = Contract.StartOrder
    /// Followers by what became of their start. followers is the sum of accepted, rejected, unknown, pending and the
    /// numbers in ineligible, also when the start is over.
    public typealias StartCounts = Contract.StartCounts
    /// Followers who get no start, by the reason.
    public typealias IneligibleCounts = Contract.IneligibleCounts
    /// What has become of an event's start, in all and for each audience.
    public typealias StartReport = Contract.StartReport
    /// What has become of a start for one app and environment.
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
    /// A text for people, as it is or by a key that the app translates.
    public typealias LocalizedText = Contract.LocalizedText
    /// A text that the app translates.
    public typealias LocalizedKey = Contract.LocalizedKey
    /// Makes the device ring and light up. It needs a title or a body that is not empty. An alert rings until the
    /// message expires; without expiresIn (or an apnsExpiration other than 0) for 15 minutes (GRANDSTAND_ALERT_FRESH).
    /// Then its content goes on as a plain update. Newer content that waits behind an alert is sent with it.
    public typealias Alert = Contract.Alert
    /// When a broadcast is sent: at a time, or so many seconds after startsAt of its event. The latter moves with the
    /// event while the broadcast is scheduled, and is refused where no startsAt is known. A time that is past means at
    /// once.
    public typealias SendTime = Contract.SendTime
    /// A time that is counted from the start of the event.
    public typealias AfterStart = Contract.AfterStart
    /// A message to everybody who follows an event, or to a channel.
    public typealias BroadcastDraft = Contract.BroadcastDraft
    /// What the audiences of one variant get instead.
    public typealias VariantContent = Contract.VariantContent
    /// A broadcast of a batch.
    public typealias BroadcastItem = Contract.BroadcastItem
    /// Broadcasts that are accepted in one commit, each on its own.
    public typealias BroadcastBatch = Contract.BroadcastBatch
    /// What became of each broadcast of a batch.
    public typealias BroadcastBatchResult = Contract.BroadcastBatchResult
    /// A broadcast of a batch that was accepted, or why it was refused.
    public typealias BroadcastOutcome = Contract.BroadcastOutcome
    /// A broadcast of a batch that was refused.
    public typealias RefusedBroadcast = Contract.RefusedBroadcast
    /// An accepted broadcast and its deliveries.
    public typealias Broadcast = Contract.Broadcast
    /// A page of broadcasts.
    public typealias BroadcastPage = Contract.BroadcastPage
    /// What a broadcast would come to if it were accepted now.
    public typealias BroadcastPreview = Contract.BroadcastPreview
    /// What one audience would get.
    public typealias AudiencePreview = Contract.AudiencePreview
    /// A content as text, by the app's templates.
    public typealias RenderedPreview = Contract.RenderedPreview
    /// The message of a broadcast to one audience.
    public typealias Delivery = Contract.Delivery
    /// Only of a delivery to tokens: activities by what became of their push. One that was not reached when a newer
    /// message came gets that instead. The answer to a call with an Idempotency-Key has not counted them yet.
    public typealias TokenCounts = Contract.TokenCounts
    /// A message to the token of one activity, for teams that keep their tokens themselves. Members other than token
    /// are those of a broadcast; a start has more.
    public typealias PushDraft = Contract.PushDraft
    /// A push to one token, and how far it is.
    public typealias Push = Contract.Push
    /// How far the message of a push is.
    public typealias PushDelivery = Contract.PushDelivery
    /// How many of an app's places for channels are taken in one environment, and how many there will be.
    public typealias Quota = Contract.Quota
    /// APNs refuses the provider tokens of the key that signs for the app, so nothing is sent. See CredentialRefusal.
    public typealias KeyRefused = Contract.KeyRefused
    /// APNs answered 429 to several lanes of the app, so its messages are sent at a rate that the server learns from
    /// the answers. It ends 300 seconds after the last 429.
    public typealias Throttled = Contract.Throttled
    /// How many channels Apple listed, and when.
    public typealias AppleCount = Contract.AppleCount
    /// How many channels there will be: those that are held and until when, and those that events will need, if each
    /// ends at its endsAt and no other message comes. Never less than used and reserved together.
    public typealias Forecast = Contract.Forecast
    /// A page of quotas.
    public typealias QuotaPage = Contract.QuotaPage
    /// How much of each app's limit was taken, step by step.
    public typealias QuotaHistory = Contract.QuotaHistory
    /// One step of one app in one environment.
    public typealias QuotaSample = Contract.QuotaSample
    /// What a reconciliation may do.
    public typealias ReconciliationDraft = Contract.ReconciliationDraft
    /// A comparison of Apple's list with the ledger. In lists a long report is abridged: missing, unmanaged and actions
    /// are left out then, and abridged is true. GET of the report has them.
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
    /// What is kept of Apple's answer to a call.
    public typealias AuditAnswer = Contract.AuditAnswer
    /// A page of the audit log.
    public typealias AuditPage = Contract.AuditPage
    /// A key to be made.
    public typealias KeyDraft = Contract.KeyDraft
    /// How long the old key goes on.
    public typealias RotationDraft = Contract.RotationDraft
    /// A key, without its secret.
    public typealias Key = Contract.Key
    /// A key that was just made, with its secret.
    public typealias IssuedKey = Contract.IssuedKey
    /// A page of keys.
    public typealias KeyPage = Contract.KeyPage
    /// The whole state of an installation. What is left out is cleared.
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
    /// When an installation of the sample showed messages.
    public typealias ReceiptBatch = Contract.ReceiptBatch
    /// When an installation showed a message.
    public typealias Receipt = Contract.Receipt
    /// How many receipts were recorded.
    public typealias RecordedReceipts = Contract.RecordedReceipts
    /// Numbers of an app's installations in one environment.
    public typealias InstallationStatistics = Contract.InstallationStatistics
    /// Tokens in numbers.
    public typealias RegisteredTokens = Contract.RegisteredTokens
    /// Which messages of an event the sampled devices showed, and how soon.
    public typealias EventReceipts = Contract.EventReceipts
    /// What the sampled devices of one app and environment showed.
    public typealias AudienceReceipts = Contract.AudienceReceipts
    /// How many devices showed a message, and how soon after its acceptance.
    public typealias MessageReceipts = Contract.MessageReceipts
    /// The values that a share of all measurements do not exceed.
    public typealias Percentiles = Contract.Percentiles
    /// Where messages are to be posted, and about what.
    public typealias WebhookDraft = Contract.WebhookDraft
    /// How long the old secret signs, too.
    public typealias WebhookRotation = Contract.WebhookRotation
    /// Where messages are posted, and about what.
    public typealias Webhook = Contract.Webhook
    /// A webhook with a new secret.
    public typealias IssuedWebhook = Contract.IssuedWebhook
    /// A page of webhooks.
    public typealias WebhookPage = Contract.WebhookPage
    /// A message on its way to one webhook.
    public typealias WebhookDelivery = Contract.WebhookDelivery
    /// A delivery with its message and every attempt.
    public typealias WebhookDeliveryLog = Contract.WebhookDeliveryLog
    /// One attempt to post a message.
    public typealias WebhookAttempt = Contract.WebhookAttempt
    /// A page of deliveries.
    public typealias WebhookDeliveryPage = Contract.WebhookDeliveryPage
    /// The body that a receiver gets.
    public typealias WebhookMessage = Contract.WebhookMessage
    /// What happened. type of the message says which of these it is.
    public typealias WebhookData = Contract.WebhookData
    /// Every delivery of a broadcast has its final state, or it was withdrawn.
    public typealias BroadcastSettled = Contract.BroadcastSettled
    /// Apple no longer has a channel.
    public typealias ChannelLost = Contract.ChannelLost
    /// An audience has another channel than before. Apps must look it up again.
    public typealias ChannelReplaced = Contract.ChannelReplaced
    /// The channel that another one replaced.
    public typealias ReplacedChannel = Contract.ReplacedChannel
    /// The level of an app's quota changed.
    public typealias QuotaLevelChanged = Contract.QuotaLevelChanged
    /// A reconciliation found something new, acted, or raised an alarm. GET of its report says more.
    public typealias ReconciliationFound = Contract.ReconciliationFound
    /// Apple's capability for broadcasts is off for an app.
    public typealias CapabilityOff = Contract.CapabilityOff
    /// APNs began to throttle an app. It answered 429 to several of its lanes.
    public typealias ThrottleBegan = Contract.ThrottleBegan
    /// APNs no longer throttles an app. No 429 came for 300 seconds.
    public typealias ThrottleEnded = Contract.ThrottleEnded
    /// Somebody tries the webhook.
    public typealias WebhookTest = Contract.WebhookTest
    /// The server-sent event snapshot. An event's state and its 20 newest broadcasts.
    public typealias LiveBoard = Contract.LiveBoard
    /// The server-sent event broadcast. A broadcast that is new or has changed.
    public typealias BroadcastSummary = Contract.BroadcastSummary
    /// The server-sent event state. The event's own state has changed.
    public typealias EventStateChange = Contract.EventStateChange
    /// The process runs.
    public typealias Health = Contract.Health
    /// Whether the server can take requests.
    public typealias Readiness = Contract.Readiness
    /// How APNs was reached lately. It does not decide whether the server is ready, because accepted messages wait for
    /// it.
    public typealias APNsReadiness = Contract.APNsReadiness
    /// How one environment of APNs was reached lately.
    public typealias APNsState = Contract.APNsState
}
