public import Foundation

extension GrandstandClient {
    /// What rings. With neither title nor body it is refused.
    public struct Alert: Sendable, Hashable, Codable {
        /// The first line.
        public var title: LocalizedText?
        /// The text below the title.
        public var body: LocalizedText?
        /// The name of a sound in the app.
        public var sound: String?

        /// What is left out is not said.
        public init(title: LocalizedText? = nil, body: LocalizedText? = nil, sound: String? = nil) {
            self.title = title
            self.body = body
            self.sound = sound
        }
    }

    /// An update, or the end, to send.
    public struct BroadcastDraft: Sendable, Hashable, Codable {
        /// An update or the end; of a push also a start.
        public var event: MessageKind
        /// Reaches the app byte for byte; required for update.
        public var contentState: RawJSON?
        /// 1, 5 or 10.
        public var priority: Int?
        /// Seconds after which it is not worth sending any more.
        public var expiresIn: Int?
        /// The header apns-expiration itself, in seconds since 1970; 0 is "now or never".
        public var apnsExpiration: Int?
        /// When its content is out of date.
        public var staleDate: Date?
        /// Only with end; at most four hours after it is sent, for Apple keeps no ended activity longer. A past one
        /// removes it at once.
        public var dismissalDate: Date?
        /// Which of several activities goes first.
        public var relevanceScore: Double?
        /// What rings with it.
        public var alert: Alert?
        /// When it is sent, if not at once.
        public var sendAt: Date?
        /// Who it is for.
        public var audiences: [AudienceSelector]?
        /// What audiences of some variants get instead.
        public var byVariant: [String: VariantContent]?

        /// What is left out is not said.
        public init(
            event: MessageKind, contentState: RawJSON? = nil, priority: Int? = nil, expiresIn: Int? = nil,
            apnsExpiration: Int? = nil, staleDate: Date? = nil, dismissalDate: Date? = nil,
            relevanceScore: Double? = nil, alert: Alert? = nil, sendAt: Date? = nil,
            audiences: [AudienceSelector]? = nil, byVariant: [String: VariantContent]? = nil
        ) {
            self.event = event
            self.contentState = contentState
            self.priority = priority
            self.expiresIn = expiresIn
            self.apnsExpiration = apnsExpiration
            self.staleDate = staleDate
            self.dismissalDate = dismissalDate
            self.relevanceScore = relevanceScore
            self.alert = alert
            self.sendAt = sendAt
            self.audiences = audiences
            self.byVariant = byVariant
        }
    }

    /// A broadcast and its deliveries.
    public struct Broadcast: Sendable, Hashable, Codable {
        /// The server's ID of it.
        public var id: String
        /// The organiser's name for the event.
        public var eventKey: String?
        /// An update or the end; of a push also a start.
        public var event: MessageKind
        /// The actor that asked for it, as in the audit log; null when that was not kept yet.
        public var by: String?
        /// Who withdrew it, as actor of the audit log; nil: nobody did, or that was not kept yet.
        public var withdrawnBy: String?
        /// Cancelled: withdrawn, or its event was cancelled or over before anything of it was sent.
        public var state: BroadcastState
        /// When it was accepted, durably.
        public var acceptedAt: Date
        /// When it is sent, if not at once.
        public var sendAt: Date?
        /// In numbers.
        public var counts: [String: Int]
        /// One for each audience.
        public var deliveries: [Delivery]
        /// What was accepted and may not be what was meant.
        public var warnings: [String]
        /// What was asked for, with what the event's defaults added, as a body that asks for it once more. When it is
        /// read; not in the answer to its acceptance.
        public var message: BroadcastDraft?
    }

    /// What has become of a broadcast for one audience.
    public typealias Delivery = Joined<PushDelivery, DeliveryTarget>

    /// Whom a delivery goes to, and what that makes of it.
    public struct DeliveryTarget: Sendable, Hashable, Codable {
        /// tokens: activities of the audience that have a token and no channel, told apart by counts; while there are
        /// any, or the audience is reached by tokens only. rejected with PayloadTooLarge: it was scheduled before
        /// they came, and no token takes so much.
        public var kind: DeliveryKind
        /// In numbers.
        public var counts: TokenCounts?
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Of its audience, where that has one; of tokens: the variant whose content they get.
        public var variant: String?
        /// Apple's ID of the channel, as it is.
        public var channelId: String?
        /// From its acceptance, or its sendAt, to Apple's answer that settled it; of tokens: to the last one. Absent
        /// where Apple said nothing.
        public var answerMilliseconds: Int?
        /// Of one that is superseded: the broadcast that took its place, where that is known.
        public var supersededBy: String?
    }

    /// Of a delivery to tokens; absent of one to a channel. Activities that were not reached when a newer state came
    /// get that.
    public struct TokenCounts: Sendable, Hashable, Codable {
        /// All of them.
        public var total: Int
        /// APNs said 200: never "shown".
        public var accepted: Int
        /// APNs refused them.
        public var rejected: Int
        /// Their tokens were no good any more.
        public var gone: Int
        /// Not reached before the message's time ran out; `nil`: a server before this field.
        public var expired: Int?
        /// Not yet answered.
        public var pending: Int
    }

    /// What the audiences of one variant get instead.
    public struct VariantContent: Sendable, Hashable, Codable {
        /// The content, byte for byte.
        public var contentState: RawJSON?
        /// What rings with it.
        public var alert: Alert?

        /// What is left out is not said.
        public init(contentState: RawJSON? = nil, alert: Alert? = nil) {
            self.contentState = contentState
            self.alert = alert
        }
    }
}
