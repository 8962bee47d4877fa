// Generated from openapi.yaml by `make contract`. Do not edit.

extension Contract {
    /// APNs has two environments, each with its own tokens and channels.
    public struct Environment: ContractWord {
        /// For apps that Xcode installs on a device.
        public static let development = Self(rawValue: "development")
        /// For apps from TestFlight and the App Store.
        public static let production = Self(rawValue: "production")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .development,
            .production,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy for
    /// its whole life.
    public struct StoragePolicy: ContractWord {
        /// APNs sends each message once. A device that is offline misses it.
        public static let noMessageStored = Self(rawValue: "noMessageStored")
        /// APNs stores the newest message until its expiration. A device that was offline gets that one.
        public static let mostRecentMessageStored = Self(rawValue: "mostRecentMessageStored")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .noMessageStored,
            .mostRecentMessageStored,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How the server sees a channel.
    public struct ChannelState: ContractWord {
        /// The server asks Apple to create it. Apple has not answered yet.
        public static let creating = Self(rawValue: "creating")
        /// Apple has issued its ID. Messages are sent to it and lookups answer it.
        public static let active = Self(rawValue: "active")
        /// No event needs it. It is kept for a while, because devices may still listen to it.
        public static let retiring = Self(rawValue: "retiring")
        /// The server asks Apple to delete it.
        public static let deleting = Self(rawValue: "deleting")
        /// Apple confirmed the deletion, or did not know the channel. This state is final.
        public static let deleted = Self(rawValue: "deleted")
        /// Apple no longer has it, though an event needs it.
        public static let missing = Self(rawValue: "missing")
        /// Apple refused to create it, or there was no place left. The server tries again at nextAttemptAt.
        public static let failed = Self(rawValue: "failed")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .creating,
            .active,
            .retiring,
            .deleting,
            .deleted,
            .missing,
            .failed,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How far an event is.
    public struct EventState: ContractWord {
        /// startsAt has not come and nothing was sent.
        public static let scheduled = Self(rawValue: "scheduled")
        /// startsAt has passed or an update was sent. It takes broadcasts.
        public static let live = Self(rawValue: "live")
        /// An end was accepted, or the server closed the event because nothing more was sent for it.
        public static let ended = Self(rawValue: "ended")
        /// Its organiser deleted it. POST …/reopen takes that back.
        public static let cancelled = Self(rawValue: "cancelled")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .scheduled,
            .live,
            .ended,
            .cancelled,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The states of events that people can still follow.
    public struct FollowableState: ContractWord {
        /// startsAt has not come and nothing was sent.
        public static let scheduled = Self(rawValue: "scheduled")
        /// startsAt has passed or an update was sent.
        public static let live = Self(rawValue: "live")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .scheduled,
            .live,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How far the message to one audience, or a push to one token, is.
    public struct DeliveryState: ContractWord {
        /// Its audience has no channel yet.
        public static let waiting = Self(rawValue: "waiting")
        /// It waits for its turn, or for the next attempt.
        public static let queued = Self(rawValue: "queued")
        /// A request to APNs is under way.
        public static let sending = Self(rawValue: "sending")
        /// APNs answered 200 and passes it on. That does not mean that a device showed it.
        public static let accepted = Self(rawValue: "accepted")
        /// A newer message was sent instead.
        public static let superseded = Self(rawValue: "superseded")
        /// Its time ran out before APNs accepted it.
        public static let expired = Self(rawValue: "expired")
        /// APNs refused it for good. reason says why.
        public static let rejected = Self(rawValue: "rejected")
        /// APNs did not answer a start. It may have been made, so it is not repeated.
        public static let unknown = Self(rawValue: "unknown")
        /// It was withdrawn, or its event was over before it was sent.
        public static let cancelled = Self(rawValue: "cancelled")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .waiting,
            .queued,
            .sending,
            .accepted,
            .superseded,
            .expired,
            .rejected,
            .unknown,
            .cancelled,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How far a broadcast or a push is, over all of its deliveries.
    public struct BroadcastState: ContractWord {
        /// It waits for its sendAt.
        public static let scheduled = Self(rawValue: "scheduled")
        /// Some delivery has no final state yet.
        public static let queued = Self(rawValue: "queued")
        /// Every delivery has its final state. Their states say what came of them.
        public static let done = Self(rawValue: "done")
        /// Nothing was sent and nothing will be. It was withdrawn, or its event was cancelled or over before.
        public static let cancelled = Self(rawValue: "cancelled")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .scheduled,
            .queued,
            .done,
            .cancelled,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
    public struct BroadcastKind: ContractWord {
        /// Changes the content that they show.
        public static let update = Self(rawValue: "update")
        /// Ends them. The event is over after it.
        public static let end = Self(rawValue: "end")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .update,
            .end,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a push does to the Live Activity of its token.
    public struct MessageKind: ContractWord {
        /// Starts an activity. The token is a push-to-start token.
        public static let start = Self(rawValue: "start")
        /// Changes the content that it shows.
        public static let update = Self(rawValue: "update")
        /// Ends it. No update follows.
        public static let end = Self(rawValue: "end")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .start,
            .update,
            .end,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How a message reaches its devices.
    public struct DeliveryKind: ContractWord {
        /// By one push to a broadcast channel.
        public static let channel = Self(rawValue: "channel")
        /// By a push to each activity that has an update token and no channel.
        public static let tokens = Self(rawValue: "tokens")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .channel,
            .tokens,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How the activities of an audience are reached. The organiser decides. Left out, it is channel.
    public struct AudienceDelivery: ContractWord {
        /// By a broadcast channel. Activities without one that report an update token are reached by that.
        public static let channel = Self(rawValue: "channel")
        /// By update tokens only. The server makes no channel.
        public static let tokens = Self(rawValue: "tokens")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .channel,
            .tokens,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How far the channel of an audience is, as organisers see it.
    public struct AudienceChannelState: ContractWord {
        /// The time at which channels open has not come. It is nextAttemptAt.
        public static let waiting = Self(rawValue: "waiting")
        /// The server asks Apple for it, or will soon.
        public static let pending = Self(rawValue: "pending")
        /// It takes messages.
        public static let active = Self(rawValue: "active")
        /// The event is over. The channel is kept for a while.
        public static let retiring = Self(rawValue: "retiring")
        /// It is gone.
        public static let deleted = Self(rawValue: "deleted")
        /// Apple refused to create it, or there was no place left. The server tries again at nextAttemptAt.
        public static let failed = Self(rawValue: "failed")
        /// The audience is reached by tokens, or the event was over before it had a channel.
        public static let none = Self(rawValue: "none")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .waiting,
            .pending,
            .active,
            .retiring,
            .deleted,
            .failed,
            .none,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What became of an audience's channel when its event was opened again.
    public struct ChannelFate: ContractWord {
        /// It is still there with everybody who follows it.
        public static let kept = Self(rawValue: "kept")
        /// It was gone or never made. Another one is made, and followers of the old one are lost.
        public static let new = Self(rawValue: "new")
        /// The audience is reached by tokens.
        public static let none = Self(rawValue: "none")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .kept,
            .new,
            .none,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a key may do.
    public struct Scope: ContractWord {
        /// For client apps: look up channels.
        public static let lookup = Self(rawValue: "lookup")
        /// For client apps: register installations and look up channels. Such a key is bound to exactly one app.
        public static let device = Self(rawValue: "device")
        /// Events, broadcasts, starts and pushes.
        public static let organise = Self(rawValue: "organise")
        /// Channels, quotas, reconciliations and the audit log.
        public static let operate = Self(rawValue: "operate")
        /// Everything, and also apps and keys.
        public static let admin = Self(rawValue: "admin")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .lookup,
            .device,
            .organise,
            .operate,
            .admin,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether a key can be used.
    public struct KeyState: ContractWord {
        /// It can be used.
        public static let active = Self(rawValue: "active")
        /// Its expiresAt has passed.
        public static let expired = Self(rawValue: "expired")
        /// Somebody revoked it.
        public static let revoked = Self(rawValue: "revoked")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .active,
            .expired,
            .revoked,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether the server can sign for an app in an environment.
    public struct CredentialState: ContractWord {
        /// The key file can be used.
        public static let ok = Self(rawValue: "ok")
        /// There is no key file AuthKey_{keyId}.p8 in the server's folder of keys.
        public static let missing = Self(rawValue: "missing")
        /// The file is there but holds no key that can be read.
        public static let unreadable = Self(rawValue: "unreadable")
        /// APNs refuses what this key signs. credentialRefusals says why.
        public static let refused = Self(rawValue: "refused")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .ok,
            .missing,
            .unreadable,
            .refused,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What the server learned about APNs and an app.
    public struct QuirkName: ContractWord {
        /// How Apple's channel management wants the bundle ID to be spelled.
        public static let managementPath = Self(rawValue: "management-path")
        /// Whether the app has the capability for broadcasts at Apple.
        public static let broadcastFeature = Self(rawValue: "broadcast-feature")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .managementPath,
            .broadcastFeature,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The value of a quirk.
    public struct QuirkValue: ContractWord {
        /// Of management-path: as it was registered.
        public static let registered = Self(rawValue: "registered")
        /// Of management-path: in lower case.
        public static let lowercased = Self(rawValue: "lowercased")
        /// The word on.
        public static let on = Self(rawValue: "on")
        /// The word off.
        public static let off = Self(rawValue: "off")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .registered,
            .lowercased,
            .on,
            .off,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How far the start of an event is.
    public struct StartState: ContractWord {
        /// Its time has not come.
        public static let scheduled = Self(rawValue: "scheduled")
        /// It waits for the channel, or for content to show.
        public static let waiting = Self(rawValue: "waiting")
        /// Pushes are being made.
        public static let running = Self(rawValue: "running")
        /// Nothing is pending now. Followers who come later still get it until its time is over.
        public static let done = Self(rawValue: "done")
        /// Somebody stopped it.
        public static let stopped = Self(rawValue: "stopped")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .scheduled,
            .waiting,
            .running,
            .done,
            .stopped,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The state of a Live Activity as ActivityKit tells it to the app.
    public struct ActivityState: ContractWord {
        /// It is shown.
        public static let active = Self(rawValue: "active")
        /// It is shown and marked as out of date.
        public static let stale = Self(rawValue: "stale")
        /// It is over and may still be visible.
        public static let ended = Self(rawValue: "ended")
        /// It is no longer visible.
        public static let dismissed = Self(rawValue: "dismissed")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .active,
            .stale,
            .ended,
            .dismissed,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Why a lookup of one event in a batch found no channel.
    public struct MissingReason: ContractWord {
        /// There is no such event for this app.
        public static let eventNotFound = Self(rawValue: "event-not-found")
        /// The event has other variants for this app.
        public static let variantNotFound = Self(rawValue: "variant-not-found")
        /// The channel is not there yet.
        public static let channelPending = Self(rawValue: "channel-pending")
        /// The event is over.
        public static let eventEnded = Self(rawValue: "event-ended")
        /// The server cannot know now, because its database is away. Ask again.
        public static let storeUnavailable = Self(rawValue: "store-unavailable")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .eventNotFound,
            .variantNotFound,
            .channelPending,
            .eventEnded,
            .storeUnavailable,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How much of an app's places are taken.
    public struct QuotaLevel: ContractWord {
        /// Less than 80 percent.
        public static let ok = Self(rawValue: "ok")
        /// 80 percent or more.
        public static let warning = Self(rawValue: "warning")
        /// 95 percent or more.
        public static let critical = Self(rawValue: "critical")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .ok,
            .warning,
            .critical,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// An alarm of an app that stands until its cause is gone. The gravest is listed first.
    public struct QuotaAlarm: ContractWord {
        /// APNs refuses the key that signs for the app, so nothing is sent. keyRefused says more.
        public static let keyRefused = Self(rawValue: "key-refused")
        /// Apple refuses whatever needs the capability for broadcasts, or all known channels vanished at once.
        public static let capabilityOff = Self(rawValue: "capability-off")
        /// Apple's list lacks channels that Apple has.
        public static let listIncomplete = Self(rawValue: "list-incomplete")
        /// Apple's list has channels that an unanswered creation or another system may have made.
        public static let ambiguousCreation = Self(rawValue: "ambiguous-creation")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .keyRefused,
            .capabilityOff,
            .listIncomplete,
            .ambiguousCreation,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Why a reconciliation asks a person to decide.
    public struct ReconciliationAlarm: ContractWord {
        /// All known channels vanished at once, as when the app's capability for broadcasts is switched off.
        public static let capabilityOff = Self(rawValue: "capability-off")
        /// Apple's list lacks channels that Apple has, so a channel that is not listed may still exist.
        public static let listIncomplete = Self(rawValue: "list-incomplete")
        /// Apple's list has channels that an unanswered creation or another system may have made.
        public static let ambiguousCreation = Self(rawValue: "ambiguous-creation")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .capabilityOff,
            .listIncomplete,
            .ambiguousCreation,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// One step that brings Apple's list and the ledger together.
    public struct ReconciliationActionName: ContractWord {
        /// Apple no longer has the channel. An event that needs it gets another one.
        public static let markMissing = Self(rawValue: "mark-missing")
        /// The channel was missing and is listed again. It serves its event again.
        public static let restore = Self(rawValue: "restore")
        /// Apple has the channel, though it refused a message to it.
        public static let confirm = Self(rawValue: "confirm")
        /// The channel was missing and is listed again, but its event has another one. It becomes unmanaged.
        public static let release = Self(rawValue: "release")
        /// Apple confirmed the deletion and still lists the channel. The server asks again.
        public static let deleteAgain = Self(rawValue: "delete-again")
        /// This is the channel that an unanswered creation made.
        public static let settle = Self(rawValue: "settle")
        /// An unanswered creation made no channel that can be told from others. The server asks again.
        public static let reopen = Self(rawValue: "reopen")
        /// An unanswered creation may have made this channel, and so may another system. It is not assigned.
        public static let contest = Self(rawValue: "contest")
        /// An unmanaged channel becomes managed.
        public static let adopt = Self(rawValue: "adopt")
        /// An unmanaged channel is deleted at Apple.
        public static let deleteUnmanaged = Self(rawValue: "delete-unmanaged")
        /// A live event gets a new channel after all known channels vanished. Only done on demand.
        public static let recreate = Self(rawValue: "recreate")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .markMissing,
            .restore,
            .confirm,
            .release,
            .deleteAgain,
            .settle,
            .reopen,
            .contest,
            .adopt,
            .deleteUnmanaged,
            .recreate,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether APNs could be reached lately.
    public struct APNsReachability: ContractWord {
        /// No request has needed a connection yet.
        public static let unknown = Self(rawValue: "unknown")
        /// APNs answers.
        public static let reachable = Self(rawValue: "reachable")
        /// APNs answers, and refuses the key that reason names.
        public static let refused = Self(rawValue: "refused")
        /// No connection could be made. reason says why.
        public static let unreachable = Self(rawValue: "unreachable")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .unknown,
            .reachable,
            .refused,
            .unreachable,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether this server can take requests.
    public struct ReadinessStatus: ContractWord {
        /// It can.
        public static let ready = Self(rawValue: "ready")
        /// It cannot. detail says why.
        public static let notReady = Self(rawValue: "not-ready")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .ready,
            .notReady,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether the database can be used.
    public struct DatabaseState: ContractWord {
        /// It answers, takes writes, and has the schema that this server needs.
        public static let ok = Self(rawValue: "ok")
        /// One of these is not so. detail says which.
        public static let unavailable = Self(rawValue: "unavailable")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .ok,
            .unavailable,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a webhook can subscribe to. A key needs one of the scopes that stand with the topic.
    public struct WebhookTopic: ContractWord {
        /// Every delivery of a broadcast has its final state, or it was withdrawn. Scope organise.
        public static let broadcastSettled = Self(rawValue: "broadcast.settled")
        /// Apple no longer has a channel. Scope organise or operate.
        public static let channelMissing = Self(rawValue: "channel.missing")
        /// An audience has another channel than before. Apps must look it up again. Scope organise or operate.
        public static let channelReplaced = Self(rawValue: "channel.replaced")
        /// The level of an app's quota changed. Scope operate.
        public static let quotaLevel = Self(rawValue: "quota.level")
        /// A reconciliation found something new, acted, or raised an alarm. Scope operate.
        public static let reconciliationFound = Self(rawValue: "reconciliation.found")
        /// Apple's capability for broadcasts is off for an app. Scope operate.
        public static let capabilityOff = Self(rawValue: "capability.off")
        /// APNs began to throttle an app. Scope operate.
        public static let throttleBegan = Self(rawValue: "throttle.began")
        /// APNs no longer throttles an app. Scope operate.
        public static let throttleEnded = Self(rawValue: "throttle.ended")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .broadcastSettled,
            .channelMissing,
            .channelReplaced,
            .quotaLevel,
            .reconciliationFound,
            .capabilityOff,
            .throttleBegan,
            .throttleEnded,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a message to a webhook is about. The topics, and the test that nobody subscribes to.
    public struct WebhookMessageType: ContractWord {
        /// Every delivery of a broadcast has its final state, or it was withdrawn.
        public static let broadcastSettled = Self(rawValue: "broadcast.settled")
        /// Apple no longer has a channel.
        public static let channelMissing = Self(rawValue: "channel.missing")
        /// An audience has another channel than before. Apps must look it up again.
        public static let channelReplaced = Self(rawValue: "channel.replaced")
        /// The level of an app's quota changed.
        public static let quotaLevel = Self(rawValue: "quota.level")
        /// A reconciliation found something new, acted, or raised an alarm.
        public static let reconciliationFound = Self(rawValue: "reconciliation.found")
        /// Apple's capability for broadcasts is off for an app.
        public static let capabilityOff = Self(rawValue: "capability.off")
        /// APNs began to throttle an app.
        public static let throttleBegan = Self(rawValue: "throttle.began")
        /// APNs no longer throttles an app.
        public static let throttleEnded = Self(rawValue: "throttle.ended")
        /// POST …/test asked for it.
        public static let webhookTest = Self(rawValue: "webhook.test")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .broadcastSettled,
            .channelMissing,
            .channelReplaced,
            .quotaLevel,
            .reconciliationFound,
            .capabilityOff,
            .throttleBegan,
            .throttleEnded,
            .webhookTest,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How far a message to one webhook is.
    public struct WebhookDeliveryState: ContractWord {
        /// It waits for its first or next attempt.
        public static let queued = Self(rawValue: "queued")
        /// It is being posted.
        public static let sending = Self(rawValue: "sending")
        /// The receiver answered 2xx.
        public static let delivered = Self(rawValue: "delivered")
        /// No attempt is left. POST …/replay posts it again.
        public static let failed = Self(rawValue: "failed")
        /// The receiver answered 410, so the webhook is disabled and nothing more is posted.
        public static let cancelled = Self(rawValue: "cancelled")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .queued,
            .sending,
            .delivered,
            .failed,
            .cancelled,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// One of the two interfaces of APNs that can be throttled.
    public struct APNsAPI: ContractWord {
        /// Messages to channels.
        public static let broadcast = Self(rawValue: "broadcast")
        /// Pushes to tokens.
        public static let device = Self(rawValue: "device")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .broadcast,
            .device,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a lookup adds.
    public struct LookupInclude: ContractWord {
        /// The newest accepted content with its timestamp.
        public static let contentState = Self(rawValue: "contentState")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .contentState
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What was done.
    public struct AuditAction: ContractWord {
        /// An app was registered.
        public static let appRegistered = Self(rawValue: "app.registered")
        /// An app was changed.
        public static let appChanged = Self(rawValue: "app.changed")
        /// An app was removed.
        public static let appDeleted = Self(rawValue: "app.deleted")
        /// Apple created a channel.
        public static let channelCreated = Self(rawValue: "channel.created")
        /// Apple refused to create or delete a channel. Refusals for the same reason are one entry.
        public static let channelRefused = Self(rawValue: "channel.refused")
        /// Apple did not answer a creation. The channel may exist.
        public static let channelUnanswered = Self(rawValue: "channel.unanswered")
        /// A channel in Apple's list became managed.
        public static let channelAdopted = Self(rawValue: "channel.adopted")
        /// A channel made elsewhere was taken over.
        public static let channelImported = Self(rawValue: "channel.imported")
        /// A channel is no longer needed.
        public static let channelRetired = Self(rawValue: "channel.retired")
        /// Apple deleted a channel.
        public static let channelDeleted = Self(rawValue: "channel.deleted")
        /// Apple no longer had a channel.
        public static let channelMissing = Self(rawValue: "channel.missing")
        /// A missing channel is listed again and is now unmanaged.
        public static let channelReleased = Self(rawValue: "channel.released")
        /// An event was declared.
        public static let eventCreated = Self(rawValue: "event.created")
        /// An event was changed.
        public static let eventChanged = Self(rawValue: "event.changed")
        /// An event was deleted by its organiser.
        public static let eventCancelled = Self(rawValue: "event.cancelled")
        /// The end or cancellation of an event was taken back.
        public static let eventReopened = Self(rawValue: "event.reopened")
        /// The server closed an event, because no end was sent long after endsAt.
        public static let eventExpired = Self(rawValue: "event.expired")
        /// A start was asked for now, or goes on.
        public static let startRequested = Self(rawValue: "start.requested")
        /// The rest of a start was stopped.
        public static let startStopped = Self(rawValue: "start.stopped")
        /// A key was made.
        public static let keyCreated = Self(rawValue: "key.created")
        /// A key was revoked.
        public static let keyRevoked = Self(rawValue: "key.revoked")
        /// A new key took another's place.
        public static let keyRotated = Self(rawValue: "key.rotated")
        /// The server learned a quirk of APNs.
        public static let quirkLearned = Self(rawValue: "quirk.learned")
        /// An admin set a quirk.
        public static let quirkSet = Self(rawValue: "quirk.set")
        /// A webhook was made.
        public static let webhookCreated = Self(rawValue: "webhook.created")
        /// A webhook was changed.
        public static let webhookChanged = Self(rawValue: "webhook.changed")
        /// A webhook was removed.
        public static let webhookDeleted = Self(rawValue: "webhook.deleted")
        /// A webhook got another secret.
        public static let webhookRotated = Self(rawValue: "webhook.rotated")
        /// The server disabled a webhook.
        public static let webhookDisabled = Self(rawValue: "webhook.disabled")
        /// A broadcast was accepted.
        public static let broadcastAccepted = Self(rawValue: "broadcast.accepted")
        /// A broadcast was withdrawn.
        public static let broadcastWithdrawn = Self(rawValue: "broadcast.withdrawn")
        /// A push was accepted.
        public static let pushAccepted = Self(rawValue: "push.accepted")
        /// A push was withdrawn.
        public static let pushWithdrawn = Self(rawValue: "push.withdrawn")
        /// Old entries of this log were deleted.
        public static let auditPruned = Self(rawValue: "audit.pruned")

        /// All that this version knows.
        public static let allCases: [Self] = [
            .appRegistered,
            .appChanged,
            .appDeleted,
            .channelCreated,
            .channelRefused,
            .channelUnanswered,
            .channelAdopted,
            .channelImported,
            .channelRetired,
            .channelDeleted,
            .channelMissing,
            .channelReleased,
            .eventCreated,
            .eventChanged,
            .eventCancelled,
            .eventReopened,
            .eventExpired,
            .startRequested,
            .startStopped,
            .keyCreated,
            .keyRevoked,
            .keyRotated,
            .quirkLearned,
            .quirkSet,
            .webhookCreated,
            .webhookChanged,
            .webhookDeleted,
            .webhookRotated,
            .webhookDisabled,
            .broadcastAccepted,
            .broadcastWithdrawn,
            .pushAccepted,
            .pushWithdrawn,
            .auditPruned,
        ]

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
