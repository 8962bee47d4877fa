// Generated from openapi.yaml by `make contract`. Do not edit.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// The state of an event's start.
    public enum StartState: ContractWord {
        /// Its time is in the future.
        case scheduled
        /// Its time has come, but nothing can be sent yet. waitingFor says why.
        case waiting
        /// Pushes are being sent.
        case running
        /// Nothing is pending now. New followers still get it until its time is over.
        case done
        /// Somebody stopped it.
        case stopped
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.scheduled, .waiting, .running, .done, .stopped]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .scheduled: "scheduled"
            case .waiting: "waiting"
            case .running: "running"
            case .done: "done"
            case .stopped: "stopped"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// What a start waits for.
    public enum StartWait: ContractWord {
        /// The audience's channel, which Apple has not made yet.
        case channel
        /// A place for the channel. The app has as many channels as its limit allows.
        case room
        /// The first content. Declare contentState in start, or send a broadcast.
        case content
        /// A shorter content. With the newest one the push is longer than Apple takes.
        case contentTooLong
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.channel, .room, .content, .contentTooLong]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .channel: "channel"
            case .room: "room"
            case .content: "content"
            case .contentTooLong: "contentTooLong"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// How to start.
    public struct StartOrder: Codable, Sendable, Hashable {
        /// true: count only, and send nothing.
        public var dryRun: Bool?

        /// Members that are `nil` are left out.
        public init(dryRun: Bool? = nil) {
            self.dryRun = dryRun
        }
    }

    /// Followers by the result of their start. followers is the sum of accepted, rejected, unknown, pending and the
    /// numbers in ineligible.
    public struct StartCounts: Codable, Sendable, Hashable {
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
    }

    /// Followers who get no start, by the reason.
    public struct IneligibleCounts: Codable, Sendable, Hashable {
        /// Their system is older than iOS 17.2.
        public var system: Int
        /// They switched Live Activities off.
        public var disabled: Int
        /// They have no usable start token of the attributes' type.
        public var noToken: Int
        /// The event ended, the start's time was over, or the start was stopped, before theirs was sent, or they began
        /// to follow after that. They get it if the start continues. The first report after the event's end counts them
        /// for the last time.
        public var tooLate: Int

        /// Members that are `nil` are left out.
        public init(system: Int, disabled: Int, noToken: Int, tooLate: Int) {
            self.system = system
            self.disabled = disabled
            self.noToken = noToken
            self.tooLate = tooLate
        }
    }

    /// The progress of an event's start, in all and for each audience.
    public struct StartReport: Codable, Sendable, Hashable, ContractAnswer {
        /// The state of an event's start.
        public var state: StartState
        /// What it waits for while state is waiting, else null.
        public var waitingFor: StartWait?
        /// When the first push was made.
        public var startedAt: Date?
        /// When nothing was left to send for the first time.
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
    }

    /// The progress of a start for one app and environment.
    public struct AudienceStart: Codable, Sendable, Hashable, ContractAnswer {
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
        /// When nothing was left to send for the first time.
        public var finishedAt: Date?
        /// Followers by the result of their start. followers is the sum of accepted, rejected, unknown, pending and the
        /// numbers in ineligible.
        public var counts: StartCounts
        /// How many were rejected, by Apple's reason.
        public var byReason: [String: Int]
        /// Pushes answered in a second, from the first one until nothing was left.
        public var perSecond: Double?

        package static let leftOut = ["variant"]

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
    }

    /// A topic, and how many follow it.
    public struct FollowedTopic: Codable, Sendable, Hashable {
        /// Something that people follow, for example a team or a league. The organiser and the app agree on its name.
        public var topic: String
        /// How many installations follow it.
        public var followers: Int

        /// Members that are `nil` are left out.
        public init(topic: String, followers: Int) {
            self.topic = topic
            self.followers = followers
        }
    }

    /// A page of topics.
    public typealias TopicPage = Page<FollowedTopic>
}
