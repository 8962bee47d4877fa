// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// The state of an event's start.
    public struct StartState: ContractWord {
        /// Its time is in the future.
        public static let scheduled = Self(rawValue: "scheduled")
        /// Its time has come, but nothing can be sent yet. waitingFor says why.
        public static let waiting = Self(rawValue: "waiting")
        /// Pushes are being sent.
        public static let running = Self(rawValue: "running")
        /// Nothing is pending now. New followers still get it until its time is over.
        public static let done = Self(rawValue: "done")
        /// Somebody stopped it.
        public static let stopped = Self(rawValue: "stopped")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .scheduled,
            .waiting,
            .running,
            .done,
            .stopped,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a start waits for.
    public struct StartWait: ContractWord {
        /// The audience's channel, which Apple has not made yet.
        public static let channel = Self(rawValue: "channel")
        /// A place for the channel. The app has as many channels as its limit allows.
        public static let room = Self(rawValue: "room")
        /// The first content. Declare contentState in start, or send a broadcast.
        public static let content = Self(rawValue: "content")
        /// A shorter content. With the newest one the push is longer than Apple takes.
        public static let contentTooLong = Self(rawValue: "contentTooLong")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .channel,
            .room,
            .content,
            .contentTooLong,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How to start.
    public struct StartOrder: Sendable, Hashable, Codable, ContractObject {
        /// true: count only, and send nothing.
        public var dryRun: Bool?

        /// Members that are `nil` are left out.
        public init(dryRun: Bool? = nil) {
            self.dryRun = dryRun
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            dryRun = try object.optional("dryRun")
        }

        package func write(members object: inout JSONWriter) {
            if let dryRun { object.member("dryRun", dryRun) }
        }
    }

    /// Followers by the result of their start. followers is the sum of accepted, rejected, unknown, pending and the
    /// numbers in ineligible.
    public struct StartCounts: Sendable, Hashable, Codable, ContractObject {
        /// Installations that follow one of the event's topics. Those that were deleted count only if they got a push.
        public var followers: Int
        /// APNs answered 200. That does not mean that it was shown.
        public var accepted: Int
        /// Of these, the app reported the activity.
        public var confirmed: Int
        /// APNs refused the push. byReason says why.
        public var rejected: Int
        /// APNs did not answer. The push is not repeated, because it may have been made.
        public var unknown: Int
        /// Not answered yet, or to be sent.
        public var pending: Int
        /// Followers who get no start, by the reason.
        public var ineligible: IneligibleCounts

        /// Members that are `nil` are left out.
        public init(
            followers: Int, accepted: Int, confirmed: Int, rejected: Int, unknown: Int, pending: Int,
            ineligible: IneligibleCounts
        ) {
            self.followers = followers
            self.accepted = accepted
            self.confirmed = confirmed
            self.rejected = rejected
            self.unknown = unknown
            self.pending = pending
            self.ineligible = ineligible
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            followers = try object.required("followers")
            accepted = try object.required("accepted")
            confirmed = try object.required("confirmed")
            rejected = try object.required("rejected")
            unknown = try object.required("unknown")
            pending = try object.required("pending")
            ineligible = try object.required("ineligible")
        }

        package func write(members object: inout JSONWriter) {
            object.member("followers", followers)
            object.member("accepted", accepted)
            object.member("confirmed", confirmed)
            object.member("rejected", rejected)
            object.member("unknown", unknown)
            object.member("pending", pending)
            object.member("ineligible", ineligible)
        }
    }

    /// Followers who get no start, by the reason.
    public struct IneligibleCounts: Sendable, Hashable, Codable, ContractObject {
        /// Their system is older than iOS 17.2.
        public var system: Int
        /// They switched Live Activities off.
        public var disabled: Int
        /// They have no usable start token of the attributes' type.
        public var noToken: Int
        /// The event ended, the start's time was over, or the start was stopped, before theirs was sent, or they began
        /// to follow after that and before the event ended. They get it if the start continues.
        public var tooLate: Int

        /// Members that are `nil` are left out.
        public init(system: Int, disabled: Int, noToken: Int, tooLate: Int) {
            self.system = system
            self.disabled = disabled
            self.noToken = noToken
            self.tooLate = tooLate
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            system = try object.required("system")
            disabled = try object.required("disabled")
            noToken = try object.required("noToken")
            tooLate = try object.required("tooLate")
        }

        package func write(members object: inout JSONWriter) {
            object.member("system", system)
            object.member("disabled", disabled)
            object.member("noToken", noToken)
            object.member("tooLate", tooLate)
        }
    }

    /// The progress of an event's start, in all and for each audience.
    public struct StartReport: Sendable, Hashable, Codable, ContractObject {
        /// The state of an event's start.
        public var state: StartState
        /// What it waits for while state is waiting, else null.
        public var waitingFor: StartWait?
        /// When the first push was made.
        public var startedAt: Date?
        /// When nothing was left to send for the last time.
        public var finishedAt: Date?
        /// Followers by the result of their start. followers is the sum of accepted, rejected, unknown, pending and the
        /// numbers in ineligible.
        public var counts: StartCounts
        /// How many were rejected, by Apple's reason.
        public var byReason: [String: Int]
        /// Pushes answered in a second, from the first one until nothing was left. Later followers do not count.
        public var perSecond: Double?
        /// Who asked for it by hand, else who declared it, as actor of the audit log. null: it was not recorded.
        public var by: String?
        /// The same for each app and environment.
        public var audiences: [AudienceStart]

        /// Members that are `nil` are left out.
        public init(
            state: StartState, waitingFor: StartWait? = nil, startedAt: Date? = nil, finishedAt: Date? = nil,
            counts: StartCounts, byReason: [String: Int], perSecond: Double? = nil, by: String? = nil,
            audiences: [AudienceStart]
        ) {
            self.state = state
            self.waitingFor = waitingFor
            self.startedAt = startedAt
            self.finishedAt = finishedAt
            self.counts = counts
            self.byReason = byReason
            self.perSecond = perSecond
            self.by = by
            self.audiences = audiences
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            state = try object.required("state")
            waitingFor = try object.optional("waitingFor")
            startedAt = try object.optional("startedAt")
            finishedAt = try object.optional("finishedAt")
            counts = try object.required("counts")
            byReason = try object.required("byReason")
            perSecond = try object.optional("perSecond")
            by = try object.optional("by")
            audiences = try object.required("audiences")
        }

        package func write(members object: inout JSONWriter) {
            object.member("state", state.rawValue)
            object.member("waitingFor", waitingFor?.rawValue)
            object.member("startedAt", startedAt)
            object.member("finishedAt", finishedAt)
            object.member("counts", counts)
            object.member("byReason", byReason)
            object.member("perSecond", perSecond)
            object.member("by", by)
            object.member("audiences", audiences)
        }
    }

    /// The progress of a start for one app and environment.
    public struct AudienceStart: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The variant of the audience on which it starts. Left out where it starts on several audiences, or on one
        /// without a variant.
        public var variant: String?
        /// The state of an event's start.
        public var state: StartState
        /// What it waits for while state is waiting, else null.
        public var waitingFor: StartWait?
        /// When the first push was made.
        public var startedAt: Date?
        /// When nothing was left to send for the last time.
        public var finishedAt: Date?
        /// Followers by the result of their start. followers is the sum of accepted, rejected, unknown, pending and the
        /// numbers in ineligible.
        public var counts: StartCounts
        /// How many were rejected, by Apple's reason.
        public var byReason: [String: Int]
        /// Pushes answered in a second, from the first one until nothing was left.
        public var perSecond: Double?

        /// Members that are `nil` are left out.
        public init(
            bundleId: String, environment: Environment, variant: String? = nil, state: StartState,
            waitingFor: StartWait? = nil, startedAt: Date? = nil, finishedAt: Date? = nil, counts: StartCounts,
            byReason: [String: Int], perSecond: Double? = nil
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.state = state
            self.waitingFor = waitingFor
            self.startedAt = startedAt
            self.finishedAt = finishedAt
            self.counts = counts
            self.byReason = byReason
            self.perSecond = perSecond
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            state = try object.required("state")
            waitingFor = try object.optional("waitingFor")
            startedAt = try object.optional("startedAt")
            finishedAt = try object.optional("finishedAt")
            counts = try object.required("counts")
            byReason = try object.required("byReason")
            perSecond = try object.optional("perSecond")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            if let variant { object.member("variant", variant) }
            object.member("state", state.rawValue)
            object.member("waitingFor", waitingFor?.rawValue)
            object.member("startedAt", startedAt)
            object.member("finishedAt", finishedAt)
            object.member("counts", counts)
            object.member("byReason", byReason)
            object.member("perSecond", perSecond)
        }
    }

    /// A topic, and how many follow it.
    public struct FollowedTopic: Sendable, Hashable, Codable, ContractObject {
        /// Something that people follow, for example a team or a league. The organiser and the app agree on its name.
        public var topic: String
        /// How many installations follow it.
        public var followers: Int

        /// Members that are `nil` are left out.
        public init(topic: String, followers: Int) {
            self.topic = topic
            self.followers = followers
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            topic = try object.required("topic")
            followers = try object.required("followers")
        }

        package func write(members object: inout JSONWriter) {
            object.member("topic", topic)
            object.member("followers", followers)
        }
    }

    /// A page of topics.
    public typealias TopicPage = Page<FollowedTopic>
}
