// Generated from openapi.yaml by `make contract`. Do not edit.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// How full an app's quota of channels is.
    public enum QuotaLevel: ContractWord {
        /// Less than 80 percent.
        case ok
        /// 80 percent or more.
        case warning
        /// 95 percent or more, or Apple refuses creations because it has no place left.
        case critical
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.ok, .warning, .critical]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .ok: "ok"
            case .warning: "warning"
            case .critical: "critical"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// An alarm of an app. It stands until its cause is gone. The gravest comes first.
    public enum QuotaAlarm: ContractWord {
        /// APNs refuses the key that signs for the app, so nothing is sent.
        case keyRefused
        /// A process that sends lacks the key file that signs for the app, or cannot read it. Its log names the file.
        case keyMissing
        /// Apple refuses calls that need the broadcast capability, or all known channels vanished at once.
        case capabilityOff
        /// Broadcasts fail or wait, and for ten seconds or longer APNs has accepted none of the app.
        case nothingAccepted
        /// Apple refused the last creation because it has no place left for the app.
        case quotaExhausted
        /// Apple's list lacks channels that Apple has.
        case listIncomplete
        /// Apple did not answer a request to create a channel. Channels in its list may be the result, or another
        /// system's.
        case ambiguousCreation
        /// At least a tenth as many installations as the app had, and at least a thousand, are new in this hour of the
        /// clock. Somebody may be faking them.
        case manyInstallations
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [
            .keyRefused, .keyMissing, .capabilityOff, .nothingAccepted, .quotaExhausted, .listIncomplete,
            .ambiguousCreation, .manyInstallations,
        ]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .keyRefused: "key-refused"
            case .keyMissing: "key-missing"
            case .capabilityOff: "capability-off"
            case .nothingAccepted: "nothing-accepted"
            case .quotaExhausted: "quota-exhausted"
            case .listIncomplete: "list-incomplete"
            case .ambiguousCreation: "ambiguous-creation"
            case .manyInstallations: "many-installations"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// Why a reconciliation asks a person to decide.
    public enum ReconciliationAlarm: ContractWord {
        /// All known channels vanished at once, as happens when the app's broadcast capability is switched off.
        case capabilityOff
        /// Apple's list lacks channels that Apple has, so a channel that is not listed may still exist.
        case listIncomplete
        /// Apple did not answer a request to create a channel. Channels in its list may be the result, or another
        /// system's.
        case ambiguousCreation
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.capabilityOff, .listIncomplete, .ambiguousCreation]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .capabilityOff: "capability-off"
            case .listIncomplete: "list-incomplete"
            case .ambiguousCreation: "ambiguous-creation"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// One step that brings Apple's list and the ledger together.
    public enum ReconciliationActionName: ContractWord {
        /// Apple no longer has the channel. An event that needs it gets another one.
        case markMissing
        /// The channel was missing and is listed again. It serves its event again.
        case restore
        /// Apple has the channel, though it refused a message to it.
        case confirm
        /// The channel was missing and is listed again, but its event has another one. It becomes unmanaged.
        case release
        /// Apple confirmed the deletion and still lists the channel. The server asks again.
        case deleteAgain
        /// This is the channel that an unanswered request created.
        case settle
        /// No channel in Apple's list can be the one of an unanswered request. The server asks again.
        case reopen
        /// An unanswered request or another system may have created this channel. It is not assigned.
        case contest
        /// An unmanaged channel becomes managed.
        case adopt
        /// An unmanaged channel is deleted at Apple.
        case deleteUnmanaged
        /// A live event gets a new channel after all known channels vanished. Only if the request asks for it.
        case recreate
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [
            .markMissing, .restore, .confirm, .release, .deleteAgain, .settle, .reopen, .contest, .adopt,
            .deleteUnmanaged, .recreate,
        ]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .markMissing: "mark-missing"
            case .restore: "restore"
            case .confirm: "confirm"
            case .release: "release"
            case .deleteAgain: "delete-again"
            case .settle: "settle"
            case .reopen: "reopen"
            case .contest: "contest"
            case .adopt: "adopt"
            case .deleteUnmanaged: "delete-unmanaged"
            case .recreate: "recreate"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// The action.
    public enum AuditAction: ContractWord {
        /// An app was registered.
        case appRegistered
        /// An app was changed.
        case appChanged
        /// An app was removed.
        case appDeleted
        /// A content type was declared.
        case contentCreated
        /// A content type was changed.
        case contentChanged
        /// A content type was removed.
        case contentDeleted
        /// Apple created a channel.
        case channelCreated
        /// Apple refused to create or delete a channel. Refusals for the same reason are one entry.
        case channelRefused
        /// Apple did not answer a creation. The channel may exist.
        case channelUnanswered
        /// A channel in Apple's list became managed.
        case channelAdopted
        /// A channel of another system was taken over.
        case channelImported
        /// A channel is no longer needed.
        case channelRetired
        /// Apple deleted a channel.
        case channelDeleted
        /// Apple no longer had a channel.
        case channelMissing
        /// A missing channel is listed again and is now unmanaged.
        case channelReleased
        /// An event was declared.
        case eventCreated
        /// An event was changed.
        case eventChanged
        /// An event was deleted by its organiser.
        case eventCancelled
        /// An event was reopened: its end or cancellation was taken back.
        case eventReopened
        /// The server closed an event, because no end was sent long after endsAt.
        case eventExpired
        /// A start was requested now, or continued.
        case startRequested
        /// The rest of a start was stopped.
        case startStopped
        /// A key was created.
        case keyCreated
        /// A key was revoked.
        case keyRevoked
        /// A new key replaced another.
        case keyRotated
        /// The server learned a quirk of APNs.
        case quirkLearned
        /// A webhook was created.
        case webhookCreated
        /// A webhook was changed.
        case webhookChanged
        /// A webhook was removed.
        case webhookDeleted
        /// A webhook got a new secret.
        case webhookRotated
        /// The server disabled a webhook.
        case webhookDisabled
        /// A broadcast was accepted.
        case broadcastAccepted
        /// A broadcast was withdrawn.
        case broadcastWithdrawn
        /// Old entries of this log were deleted.
        case auditPruned
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [
            .appRegistered, .appChanged, .appDeleted, .contentCreated, .contentChanged, .contentDeleted,
            .channelCreated, .channelRefused, .channelUnanswered, .channelAdopted, .channelImported, .channelRetired,
            .channelDeleted, .channelMissing, .channelReleased, .eventCreated, .eventChanged, .eventCancelled,
            .eventReopened, .eventExpired, .startRequested, .startStopped, .keyCreated, .keyRevoked, .keyRotated,
            .quirkLearned, .webhookCreated, .webhookChanged, .webhookDeleted, .webhookRotated, .webhookDisabled,
            .broadcastAccepted, .broadcastWithdrawn, .auditPruned,
        ]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .appRegistered: "app.registered"
            case .appChanged: "app.changed"
            case .appDeleted: "app.deleted"
            case .contentCreated: "content.created"
            case .contentChanged: "content.changed"
            case .contentDeleted: "content.deleted"
            case .channelCreated: "channel.created"
            case .channelRefused: "channel.refused"
            case .channelUnanswered: "channel.unanswered"
            case .channelAdopted: "channel.adopted"
            case .channelImported: "channel.imported"
            case .channelRetired: "channel.retired"
            case .channelDeleted: "channel.deleted"
            case .channelMissing: "channel.missing"
            case .channelReleased: "channel.released"
            case .eventCreated: "event.created"
            case .eventChanged: "event.changed"
            case .eventCancelled: "event.cancelled"
            case .eventReopened: "event.reopened"
            case .eventExpired: "event.expired"
            case .startRequested: "start.requested"
            case .startStopped: "start.stopped"
            case .keyCreated: "key.created"
            case .keyRevoked: "key.revoked"
            case .keyRotated: "key.rotated"
            case .quirkLearned: "quirk.learned"
            case .webhookCreated: "webhook.created"
            case .webhookChanged: "webhook.changed"
            case .webhookDeleted: "webhook.deleted"
            case .webhookRotated: "webhook.rotated"
            case .webhookDisabled: "webhook.disabled"
            case .broadcastAccepted: "broadcast.accepted"
            case .broadcastWithdrawn: "broadcast.withdrawn"
            case .auditPruned: "audit.pruned"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// How many channels an app has in one environment, and how many it will have.
    public struct Quota: Codable, Sendable, Hashable, ContractAnswer {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The app's channelLimit.
        public var limit: Int
        /// Channels at Apple, as far as the server knows.
        public var used: Int
        /// Places held for channels that are being created.
        public var reserved: Int
        /// Places that are free now. Channels that are only kept for a while give theirs up: at once to an event that
        /// is live, ten minutes after the end of their event also to one that starts within the hour or has no
        /// startsAt, and to a creation by hand. So a creation may succeed at 0.
        public var available: Int
        /// Channels by state. Deleted ones are not counted.
        public var byState: [String: Int]
        /// Channels that take a place, by storage policy.
        public var byStoragePolicy: [String: Int]
        /// What Apple's list said at the last reconciliation. null: there was none.
        public var apple: AppleCount?
        /// Channels in Apple's list that the ledger does not have.
        public var unmanaged: Int
        /// Channels that Apple no longer has though an event needs them.
        public var missing: Int
        /// How many channels there will be: those that exist and until when, and those that events will need, if each
        /// ends at its endsAt without further messages. At the limit, an event that starts within the hour takes the
        /// place of one that ended more than ten minutes before. Never less than used and reserved together.
        public var forecast: Forecast
        /// How full an app's quota of channels is.
        public var level: QuotaLevel
        /// The gravest alarm that stands. null: none does.
        public var alarm: QuotaAlarm?
        /// The alarm key-refused, while it stands.
        public var keyRefused: KeyRefused?
        /// Set while APNs throttles the app's broadcasts.
        public var throttled: Throttled?
        /// Set while APNs throttles the app's pushes to devices. Answers about single tokens do not count.
        public var devicesThrottled: Throttled?

        /// Members that are `nil` are left out.
        public init(
            bundleId: String, environment: Environment, limit: Int, used: Int, reserved: Int, available: Int,
            byState: [String: Int], byStoragePolicy: [String: Int], apple: AppleCount? = nil, unmanaged: Int,
            missing: Int, forecast: Forecast, level: QuotaLevel, alarm: QuotaAlarm? = nil,
            keyRefused: KeyRefused? = nil, throttled: Throttled? = nil, devicesThrottled: Throttled? = nil
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.limit = limit
            self.used = used
            self.reserved = reserved
            self.available = available
            self.byState = byState
            self.byStoragePolicy = byStoragePolicy
            self.apple = apple
            self.unmanaged = unmanaged
            self.missing = missing
            self.forecast = forecast
            self.level = level
            self.alarm = alarm
            self.keyRefused = keyRefused
            self.throttled = throttled
            self.devicesThrottled = devicesThrottled
        }
    }

    /// APNs refuses the provider tokens of the key that signs for the app, so nothing is sent. See CredentialRefusal.
    public struct KeyRefused: Codable, Sendable, Hashable {
        /// The ID of the team at Apple that the signing key belongs to.
        public var teamId: String
        /// The ID of the key at Apple that signs. The server reads the file AuthKey_{keyId}.p8.
        public var keyId: String
        /// Apple's reason in the newest refusal.
        public var reason: String
        /// The time of the first refusal in a row.
        public var since: Date

        /// Members that are `nil` are left out.
        public init(teamId: String, keyId: String, reason: String, since: Date) {
            self.teamId = teamId
            self.keyId = keyId
            self.reason = reason
            self.since = since
        }
    }

    /// APNs answered 429 to several lanes of the app, so the server sends the app's messages at a rate that it learns
    /// from the answers. The throttling ends 300 to 330 seconds after the last 429.
    public struct Throttled: Codable, Sendable, Hashable {
        /// The time of the first 429.
        public var since: Date
        /// Lanes whose newest message waits for its turn.
        public var lanesWaiting: Int
        /// Seconds that the first of these lanes has waited. 0 if none waits.
        public var oldestSeconds: Double

        /// Members that are `nil` are left out.
        public init(since: Date, lanesWaiting: Int, oldestSeconds: Double) {
            self.since = since
            self.lanesWaiting = lanesWaiting
            self.oldestSeconds = oldestSeconds
        }
    }

    /// How many channels Apple listed, and when.
    public struct AppleCount: Codable, Sendable, Hashable {
        /// How many.
        public var count: Int
        /// When.
        public var at: Date

        /// Members that are `nil` are left out.
        public init(count: Int, at: Date) {
            self.count = count
            self.at = at
        }
    }

    /// How many channels there will be: those that exist and until when, and those that events will need, if each ends
    /// at its endsAt without further messages. At the limit, an event that starts within the hour takes the place of
    /// one that ended more than ten minutes before. Never less than used and reserved together.
    public struct Forecast: Codable, Sendable, Hashable, ContractAnswer {
        /// The most channels at the same time, from now on.
        public var peak: Int
        /// When that number is first reached.
        public var peakAt: Date
        /// When the limit is exceeded first. null: never.
        public var exceedsAt: Date?

        /// Members that are `nil` are left out.
        public init(peak: Int, peakAt: Date, exceedsAt: Date? = nil) {
            self.peak = peak
            self.peakAt = peakAt
            self.exceedsAt = exceedsAt
        }
    }

    /// A page of quotas.
    public typealias QuotaPage = Page<Quota>

    /// How much of each app's limit was used over time.
    public struct QuotaHistory: Codable, Sendable, Hashable {
        /// The beginning of the time that was asked for.
        public var from: Date
        /// The end of the time that was asked for.
        public var to: Date
        /// The length of a step in seconds.
        public var step: Int
        /// By bundle ID, environment and time. Steps without a sample are left out.
        public var items: [QuotaSample]

        /// Members that are `nil` are left out.
        public init(from: Date, to: Date, step: Int, items: [QuotaSample]) {
            self.from = from
            self.to = to
            self.step = step
            self.items = items
        }
    }

    /// One step of one app in one environment.
    public struct QuotaSample: Codable, Sendable, Hashable {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The end of the step.
        public var at: Date
        /// Channels at Apple in the step's last sample.
        public var used: Int
        /// Places held for creations in the step's last sample.
        public var reserved: Int
        /// The most places taken at once in the step's samples, used and reserved together.
        public var peak: Int
        /// The app's channelLimit in the step's last sample.
        public var limit: Int
        /// Channels created in the step.
        public var created: Int
        /// Channels deleted in the step.
        public var deleted: Int

        /// Members that are `nil` are left out.
        public init(
            bundleId: String, environment: Environment, at: Date, used: Int, reserved: Int, peak: Int, limit: Int,
            created: Int, deleted: Int
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.at = at
            self.used = used
            self.reserved = reserved
            self.peak = peak
            self.limit = limit
            self.created = created
            self.deleted = deleted
        }
    }

    /// What a reconciliation may do.
    public struct ReconciliationDraft: Codable, Sendable, Hashable {
        /// true: carry out the actions. Otherwise they are only reported.
        public var apply: Bool?
        /// true: take over unmanaged channels.
        public var adopt: Bool?
        /// true: delete unmanaged channels at Apple that were first seen at least ten minutes ago
        /// (GRANDSTAND_RECONCILE_GRACE), at most GRANDSTAND_RECONCILE_DELETE_BUDGET in a run.
        public var deleteUnmanaged: Bool?
        /// true: if all known channels are missing from Apple's list, accept that they are gone, so that live events
        /// get new ones. With apply, creations that wait for a retry are made now.
        public var recreate: Bool?

        /// Members that are `nil` are left out.
        public init(apply: Bool? = nil, adopt: Bool? = nil, deleteUnmanaged: Bool? = nil, recreate: Bool? = nil) {
            self.apply = apply
            self.adopt = adopt
            self.deleteUnmanaged = deleteUnmanaged
            self.recreate = recreate
        }
    }

    /// A comparison of Apple's list with the ledger. In lists a long report is abridged: it has abridged=true instead
    /// of missing, unmanaged and actions. GET of the report has them.
    public struct Reconciliation: Codable, Sendable, Hashable, ContractAnswer {
        /// The server's ID of the report.
        public var id: String
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// Who did it: key: and the name of an API key, command-line for an operator at the server, grandstand for the
        /// server itself.
        public var actor: String
        /// When it began.
        public var startedAt: Date
        /// When it was done.
        public var finishedAt: Date
        /// Whether the actions were carried out.
        public var applied: Bool
        /// Channels in Apple's list.
        public var apple: Int
        /// Channels of the ledger that should be in it.
        public var ledger: Int
        /// Channels in both.
        public var matched: Int
        /// Channels of the ledger that Apple's list lacks.
        public var missing: [MissingChannel]?
        /// Channels in Apple's list that the ledger lacks.
        public var unmanaged: [UnmanagedChannel]?
        /// The actions that would correct the differences.
        public var actions: [ReconciliationAction]?
        /// Why a person has to decide. null: nothing needs that.
        public var alarm: ReconciliationAlarm?
        /// Sentences for operators.
        public var notes: [String]
        /// Only in lists, and only where the three lists are left out.
        public var abridged: Bool?

        package static let leftOut = ["missing", "unmanaged", "actions", "abridged"]

        /// Members that are `nil` are left out.
        public init(
            id: String, bundleId: String, environment: Environment, actor: String, startedAt: Date, finishedAt: Date,
            applied: Bool, apple: Int, ledger: Int, matched: Int, missing: [MissingChannel]? = nil,
            unmanaged: [UnmanagedChannel]? = nil, actions: [ReconciliationAction]? = nil,
            alarm: ReconciliationAlarm? = nil, notes: [String], abridged: Bool? = nil
        ) {
            self.id = id
            self.bundleId = bundleId
            self.environment = environment
            self.actor = actor
            self.startedAt = startedAt
            self.finishedAt = finishedAt
            self.applied = applied
            self.apple = apple
            self.ledger = ledger
            self.matched = matched
            self.missing = missing
            self.unmanaged = unmanaged
            self.actions = actions
            self.alarm = alarm
            self.notes = notes
            self.abridged = abridged
        }
    }

    /// A channel of the ledger that Apple's list lacks.
    public struct MissingChannel: Codable, Sendable, Hashable, ContractAnswer {
        /// The server's ID of the resource.
        public var id: String
        /// Apple's ID of it.
        public var channelId: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// The event that it serves.
        public var eventKey: String?
        /// The variant of the audience that it serves, if that has one.
        public var variant: String?

        package static let leftOut = ["variant"]

        /// Members that are `nil` are left out.
        public init(
            id: String, channelId: String? = nil, storagePolicy: StoragePolicy, eventKey: String? = nil,
            variant: String? = nil
        ) {
            self.id = id
            self.channelId = channelId
            self.storagePolicy = storagePolicy
            self.eventKey = eventKey
            self.variant = variant
        }
    }

    /// A channel in Apple's list that the ledger lacks.
    public struct UnmanagedChannel: Codable, Sendable, Hashable {
        /// Apple's ID of a channel, unchanged. Apps pass it to ActivityKit, pushType .channel(…).
        public var channelId: String
        /// When a reconciliation first saw it.
        public var firstSeenAt: Date
        /// Its policy, if Apple was asked for it.
        public var storagePolicy: StoragePolicy?

        /// Members that are `nil` are left out.
        public init(channelId: String, firstSeenAt: Date, storagePolicy: StoragePolicy? = nil) {
            self.channelId = channelId
            self.firstSeenAt = firstSeenAt
            self.storagePolicy = storagePolicy
        }
    }

    /// One step of a reconciliation, and whether it was done.
    public struct ReconciliationAction: Codable, Sendable, Hashable, ContractAnswer {
        /// One step that brings Apple's list and the ledger together.
        public var action: ReconciliationActionName
        /// The server's ID of the channel, where the ledger has it.
        public var id: String?
        /// The event that the channel serves. null: none, or the ledger does not have the channel.
        public var eventKey: String?
        /// The variant of the audience that it serves, if that has one.
        public var variant: String?
        /// Apple's ID of the channel.
        public var channelId: String?
        /// Whether it was carried out.
        public var done: Bool
        /// Why it was not, or what Apple said.
        public var detail: String?

        package static let leftOut = ["id", "variant", "detail"]

        /// Members that are `nil` are left out.
        public init(
            action: ReconciliationActionName, id: String? = nil, eventKey: String? = nil, variant: String? = nil,
            channelId: String? = nil, done: Bool, detail: String? = nil
        ) {
            self.action = action
            self.id = id
            self.eventKey = eventKey
            self.variant = variant
            self.channelId = channelId
            self.done = done
            self.detail = detail
        }
    }

    /// A page of reports.
    public typealias ReconciliationPage = Page<Reconciliation>

    /// One change, who made it, and what Apple answered.
    public struct AuditEntry: Codable, Sendable, Hashable, ContractAnswer {
        /// Decimal digits that rise with every entry.
        public var id: String
        /// When.
        public var at: Date
        /// Who did it: key: and the name of an API key, command-line for an operator at the server, grandstand for the
        /// server itself.
        public var actor: String
        /// The ID of the API key that asked for it.
        public var keyId: String?
        /// The action.
        public var action: AuditAction
        /// The app.
        public var bundleId: String?
        /// APNs' environment.
        public var environment: Environment?
        /// The server's ID of the channel.
        public var channel: String?
        /// Apple's ID of the channel.
        public var channelId: String?
        /// The event.
        public var eventKey: String?
        /// The broadcast.
        public var broadcast: String?
        /// Why, in words.
        public var reason: String?
        /// The ID of the key that signed the call to Apple.
        public var signingKey: String?
        /// What Apple answered. null: it was not asked, or did not answer.
        public var apns: AuditAnswer?

        /// Members that are `nil` are left out.
        public init(
            id: String, at: Date, actor: String, keyId: String? = nil, action: AuditAction, bundleId: String? = nil,
            environment: Environment? = nil, channel: String? = nil, channelId: String? = nil, eventKey: String? = nil,
            broadcast: String? = nil, reason: String? = nil, signingKey: String? = nil, apns: AuditAnswer? = nil
        ) {
            self.id = id
            self.at = at
            self.actor = actor
            self.keyId = keyId
            self.action = action
            self.bundleId = bundleId
            self.environment = environment
            self.channel = channel
            self.channelId = channelId
            self.eventKey = eventKey
            self.broadcast = broadcast
            self.reason = reason
            self.signingKey = signingKey
            self.apns = apns
        }
    }

    /// The recorded part of Apple's answer to a call.
    public struct AuditAnswer: Codable, Sendable, Hashable, ContractAnswer {
        /// The HTTP status. null: no answer came.
        public var status: Int?
        /// Apple's word for a refusal.
        public var reason: String?
        /// APNs' ID of the request.
        public var requestId: String?

        /// Members that are `nil` are left out.
        public init(status: Int? = nil, reason: String? = nil, requestId: String? = nil) {
            self.status = status
            self.reason = reason
            self.requestId = requestId
        }
    }

    /// A page of the audit log.
    public typealias AuditPage = Page<AuditEntry>
}
