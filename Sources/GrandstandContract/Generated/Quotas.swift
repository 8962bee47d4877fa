// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// How full an app's quota of channels is.
    public struct QuotaLevel: ContractWord {
        /// Less than 80 percent.
        public static let ok = Self(rawValue: "ok")
        /// 80 percent or more.
        public static let warning = Self(rawValue: "warning")
        /// 95 percent or more, or Apple refuses creations because it has no place left.
        public static let critical = Self(rawValue: "critical")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .ok,
            .warning,
            .critical,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// An alarm of an app. It stands until its cause is gone. The gravest comes first.
    public struct QuotaAlarm: ContractWord {
        /// APNs refuses the key that signs for the app, so nothing is sent. keyRefused says more.
        public static let keyRefused = Self(rawValue: "key-refused")
        /// A process that sends lacks the key file that signs for the app, or cannot read it. Its log names the file.
        public static let keyMissing = Self(rawValue: "key-missing")
        /// Apple refuses calls that need the broadcast capability, or all known channels vanished at once.
        public static let capabilityOff = Self(rawValue: "capability-off")
        /// Broadcasts fail or wait, and for ten seconds or longer APNs has accepted none of the app.
        public static let nothingAccepted = Self(rawValue: "nothing-accepted")
        /// Apple refused the last creation because it has no place left for the app.
        public static let quotaExhausted = Self(rawValue: "quota-exhausted")
        /// Apple's list lacks channels that Apple has.
        public static let listIncomplete = Self(rawValue: "list-incomplete")
        /// Apple did not answer a request to create a channel. Channels in its list may be the result, or another
        /// system's.
        public static let ambiguousCreation = Self(rawValue: "ambiguous-creation")
        /// More than a tenth of the app's installations, and more than a thousand, are new within an hour. Somebody may
        /// be faking them.
        public static let manyInstallations = Self(rawValue: "many-installations")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .keyRefused,
            .keyMissing,
            .capabilityOff,
            .nothingAccepted,
            .quotaExhausted,
            .listIncomplete,
            .ambiguousCreation,
            .manyInstallations,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Why a reconciliation asks a person to decide.
    public struct ReconciliationAlarm: ContractWord {
        /// All known channels vanished at once, as happens when the app's broadcast capability is switched off.
        public static let capabilityOff = Self(rawValue: "capability-off")
        /// Apple's list lacks channels that Apple has, so a channel that is not listed may still exist.
        public static let listIncomplete = Self(rawValue: "list-incomplete")
        /// Apple did not answer a request to create a channel. Channels in its list may be the result, or another
        /// system's.
        public static let ambiguousCreation = Self(rawValue: "ambiguous-creation")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .capabilityOff,
            .listIncomplete,
            .ambiguousCreation,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
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
        /// This is the channel that an unanswered request created.
        public static let settle = Self(rawValue: "settle")
        /// No channel in Apple's list can be the one of an unanswered request. The server asks again.
        public static let reopen = Self(rawValue: "reopen")
        /// An unanswered request or another system may have created this channel. It is not assigned.
        public static let contest = Self(rawValue: "contest")
        /// An unmanaged channel becomes managed.
        public static let adopt = Self(rawValue: "adopt")
        /// An unmanaged channel is deleted at Apple.
        public static let deleteUnmanaged = Self(rawValue: "delete-unmanaged")
        /// A live event gets a new channel after all known channels vanished. Only if the request asks for it.
        public static let recreate = Self(rawValue: "recreate")

        /// The values that this version knows.
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

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The action.
    public struct AuditAction: ContractWord {
        /// An app was registered.
        public static let appRegistered = Self(rawValue: "app.registered")
        /// An app was changed.
        public static let appChanged = Self(rawValue: "app.changed")
        /// An app was removed.
        public static let appDeleted = Self(rawValue: "app.deleted")
        /// A content type was declared.
        public static let contentCreated = Self(rawValue: "content.created")
        /// A content type was changed.
        public static let contentChanged = Self(rawValue: "content.changed")
        /// A content type was removed.
        public static let contentDeleted = Self(rawValue: "content.deleted")
        /// Apple created a channel.
        public static let channelCreated = Self(rawValue: "channel.created")
        /// Apple refused to create or delete a channel. Refusals for the same reason are one entry.
        public static let channelRefused = Self(rawValue: "channel.refused")
        /// Apple did not answer a creation. The channel may exist.
        public static let channelUnanswered = Self(rawValue: "channel.unanswered")
        /// A channel in Apple's list became managed.
        public static let channelAdopted = Self(rawValue: "channel.adopted")
        /// A channel of another system was taken over.
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
        /// An event was reopened: its end or cancellation was taken back.
        public static let eventReopened = Self(rawValue: "event.reopened")
        /// The server closed an event, because no end was sent long after endsAt.
        public static let eventExpired = Self(rawValue: "event.expired")
        /// A start was requested now, or continued.
        public static let startRequested = Self(rawValue: "start.requested")
        /// The rest of a start was stopped.
        public static let startStopped = Self(rawValue: "start.stopped")
        /// A key was created.
        public static let keyCreated = Self(rawValue: "key.created")
        /// A key was revoked.
        public static let keyRevoked = Self(rawValue: "key.revoked")
        /// A new key replaced another.
        public static let keyRotated = Self(rawValue: "key.rotated")
        /// The server learned a quirk of APNs.
        public static let quirkLearned = Self(rawValue: "quirk.learned")
        /// A webhook was created.
        public static let webhookCreated = Self(rawValue: "webhook.created")
        /// A webhook was changed.
        public static let webhookChanged = Self(rawValue: "webhook.changed")
        /// A webhook was removed.
        public static let webhookDeleted = Self(rawValue: "webhook.deleted")
        /// A webhook got a new secret.
        public static let webhookRotated = Self(rawValue: "webhook.rotated")
        /// The server disabled a webhook.
        public static let webhookDisabled = Self(rawValue: "webhook.disabled")
        /// A broadcast was accepted.
        public static let broadcastAccepted = Self(rawValue: "broadcast.accepted")
        /// A broadcast was withdrawn.
        public static let broadcastWithdrawn = Self(rawValue: "broadcast.withdrawn")
        /// Old entries of this log were deleted.
        public static let auditPruned = Self(rawValue: "audit.pruned")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .appRegistered,
            .appChanged,
            .appDeleted,
            .contentCreated,
            .contentChanged,
            .contentDeleted,
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
            .webhookCreated,
            .webhookChanged,
            .webhookDeleted,
            .webhookRotated,
            .webhookDisabled,
            .broadcastAccepted,
            .broadcastWithdrawn,
            .auditPruned,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How many channels an app has in one environment, and how many it will have.
    public struct Quota: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            limit = try object.required("limit")
            used = try object.required("used")
            reserved = try object.required("reserved")
            available = try object.required("available")
            byState = try object.required("byState")
            byStoragePolicy = try object.required("byStoragePolicy")
            apple = try object.optional("apple")
            unmanaged = try object.required("unmanaged")
            missing = try object.required("missing")
            forecast = try object.required("forecast")
            level = try object.required("level")
            alarm = try object.optional("alarm")
            keyRefused = try object.optional("keyRefused")
            throttled = try object.optional("throttled")
            devicesThrottled = try object.optional("devicesThrottled")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            object.member("limit", limit)
            object.member("used", used)
            object.member("reserved", reserved)
            object.member("available", available)
            object.member("byState", byState)
            object.member("byStoragePolicy", byStoragePolicy)
            object.member("apple", apple)
            object.member("unmanaged", unmanaged)
            object.member("missing", missing)
            object.member("forecast", forecast)
            object.member("level", level.rawValue)
            object.member("alarm", alarm?.rawValue)
            object.member("keyRefused", keyRefused)
            object.member("throttled", throttled)
            object.member("devicesThrottled", devicesThrottled)
        }
    }

    /// APNs refuses the provider tokens of the key that signs for the app, so nothing is sent. See CredentialRefusal.
    public struct KeyRefused: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            teamId = try object.required("teamId")
            keyId = try object.required("keyId")
            reason = try object.required("reason")
            since = try object.required("since")
        }

        package func write(members object: inout JSONWriter) {
            object.member("teamId", teamId)
            object.member("keyId", keyId)
            object.member("reason", reason)
            object.member("since", since)
        }
    }

    /// APNs answered 429 to several lanes of the app, so the server sends the app's messages at a rate that it learns
    /// from the answers. The throttling ends 300 to 330 seconds after the last 429.
    public struct Throttled: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            since = try object.required("since")
            lanesWaiting = try object.required("lanesWaiting")
            oldestSeconds = try object.required("oldestSeconds")
        }

        package func write(members object: inout JSONWriter) {
            object.member("since", since)
            object.member("lanesWaiting", lanesWaiting)
            object.member("oldestSeconds", oldestSeconds)
        }
    }

    /// How many channels Apple listed, and when.
    public struct AppleCount: Sendable, Hashable, Codable, ContractObject {
        /// How many.
        public var count: Int
        /// When.
        public var at: Date

        /// Members that are `nil` are left out.
        public init(count: Int, at: Date) {
            self.count = count
            self.at = at
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            count = try object.required("count")
            at = try object.required("at")
        }

        package func write(members object: inout JSONWriter) {
            object.member("count", count)
            object.member("at", at)
        }
    }

    /// How many channels there will be: those that exist and until when, and those that events will need, if each ends
    /// at its endsAt without further messages. At the limit, an event that starts within the hour takes the place of
    /// one that ended more than ten minutes before. Never less than used and reserved together.
    public struct Forecast: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            peak = try object.required("peak")
            peakAt = try object.required("peakAt")
            exceedsAt = try object.optional("exceedsAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("peak", peak)
            object.member("peakAt", peakAt)
            object.member("exceedsAt", exceedsAt)
        }
    }

    /// A page of quotas.
    public typealias QuotaPage = Page<Quota>

    /// How much of each app's limit was used over time.
    public struct QuotaHistory: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            from = try object.required("from")
            to = try object.required("to")
            step = try object.required("step")
            items = try object.required("items")
        }

        package func write(members object: inout JSONWriter) {
            object.member("from", from)
            object.member("to", to)
            object.member("step", step)
            object.member("items", items)
        }
    }

    /// One step of one app in one environment.
    public struct QuotaSample: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            at = try object.required("at")
            used = try object.required("used")
            reserved = try object.required("reserved")
            peak = try object.required("peak")
            limit = try object.required("limit")
            created = try object.required("created")
            deleted = try object.required("deleted")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            object.member("at", at)
            object.member("used", used)
            object.member("reserved", reserved)
            object.member("peak", peak)
            object.member("limit", limit)
            object.member("created", created)
            object.member("deleted", deleted)
        }
    }

    /// What a reconciliation may do.
    public struct ReconciliationDraft: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            apply = try object.optional("apply")
            adopt = try object.optional("adopt")
            deleteUnmanaged = try object.optional("deleteUnmanaged")
            recreate = try object.optional("recreate")
        }

        package func write(members object: inout JSONWriter) {
            if let apply { object.member("apply", apply) }
            if let adopt { object.member("adopt", adopt) }
            if let deleteUnmanaged { object.member("deleteUnmanaged", deleteUnmanaged) }
            if let recreate { object.member("recreate", recreate) }
        }
    }

    /// A comparison of Apple's list with the ledger. In lists a long report is abridged: it has abridged=true instead
    /// of missing, unmanaged and actions. GET of the report has them.
    public struct Reconciliation: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            actor = try object.required("actor")
            startedAt = try object.required("startedAt")
            finishedAt = try object.required("finishedAt")
            applied = try object.required("applied")
            apple = try object.required("apple")
            ledger = try object.required("ledger")
            matched = try object.required("matched")
            missing = try object.optional("missing")
            unmanaged = try object.optional("unmanaged")
            actions = try object.optional("actions")
            alarm = try object.optional("alarm")
            notes = try object.required("notes")
            abridged = try object.optional("abridged")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            object.member("actor", actor)
            object.member("startedAt", startedAt)
            object.member("finishedAt", finishedAt)
            object.member("applied", applied)
            object.member("apple", apple)
            object.member("ledger", ledger)
            object.member("matched", matched)
            if let missing { object.member("missing", missing) }
            if let unmanaged { object.member("unmanaged", unmanaged) }
            if let actions { object.member("actions", actions) }
            object.member("alarm", alarm?.rawValue)
            object.member("notes", notes)
            if let abridged { object.member("abridged", abridged) }
        }
    }

    /// A channel of the ledger that Apple's list lacks.
    public struct MissingChannel: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            channelId = try object.optional("channelId")
            storagePolicy = try object.required("storagePolicy")
            eventKey = try object.optional("eventKey")
            variant = try object.optional("variant")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("channelId", channelId)
            object.member("storagePolicy", storagePolicy.rawValue)
            object.member("eventKey", eventKey)
            if let variant { object.member("variant", variant) }
        }
    }

    /// A channel in Apple's list that the ledger lacks.
    public struct UnmanagedChannel: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            channelId = try object.required("channelId")
            firstSeenAt = try object.required("firstSeenAt")
            storagePolicy = try object.optional("storagePolicy")
        }

        package func write(members object: inout JSONWriter) {
            object.member("channelId", channelId)
            object.member("firstSeenAt", firstSeenAt)
            if let storagePolicy { object.member("storagePolicy", storagePolicy.rawValue) }
        }
    }

    /// One step of a reconciliation, and whether it was done.
    public struct ReconciliationAction: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            action = try object.required("action")
            id = try object.optional("id")
            eventKey = try object.optional("eventKey")
            variant = try object.optional("variant")
            channelId = try object.optional("channelId")
            done = try object.required("done")
            detail = try object.optional("detail")
        }

        package func write(members object: inout JSONWriter) {
            object.member("action", action.rawValue)
            if let id { object.member("id", id) }
            object.member("eventKey", eventKey)
            if let variant { object.member("variant", variant) }
            object.member("channelId", channelId)
            object.member("done", done)
            if let detail { object.member("detail", detail) }
        }
    }

    /// A page of reports.
    public typealias ReconciliationPage = Page<Reconciliation>

    /// One change, who made it, and what Apple answered.
    public struct AuditEntry: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            at = try object.required("at")
            actor = try object.required("actor")
            keyId = try object.optional("keyId")
            action = try object.required("action")
            bundleId = try object.optional("bundleId")
            environment = try object.optional("environment")
            channel = try object.optional("channel")
            channelId = try object.optional("channelId")
            eventKey = try object.optional("eventKey")
            broadcast = try object.optional("broadcast")
            reason = try object.optional("reason")
            signingKey = try object.optional("signingKey")
            apns = try object.optional("apns")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("at", at)
            object.member("actor", actor)
            object.member("keyId", keyId)
            object.member("action", action.rawValue)
            object.member("bundleId", bundleId)
            object.member("environment", environment?.rawValue)
            object.member("channel", channel)
            object.member("channelId", channelId)
            object.member("eventKey", eventKey)
            object.member("broadcast", broadcast)
            object.member("reason", reason)
            object.member("signingKey", signingKey)
            object.member("apns", apns)
        }
    }

    /// The recorded part of Apple's answer to a call.
    public struct AuditAnswer: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            status = try object.optional("status")
            reason = try object.optional("reason")
            requestId = try object.optional("requestId")
        }

        package func write(members object: inout JSONWriter) {
            object.member("status", status)
            object.member("reason", reason)
            object.member("requestId", requestId)
        }
    }

    /// A page of the audit log.
    public typealias AuditPage = Page<AuditEntry>
}
