extension GrandstandClient {
    /// APNs' environment.
    public struct Environment: OpenEnumeration {
        /// For builds out of Xcode.
        public static let development = Self(rawValue: "development")
        /// For TestFlight and the App Store.
        public static let production = Self(rawValue: "production")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether APNs stores the newest message for phones that are offline.
    public struct StoragePolicy: OpenEnumeration {
        /// Who is offline misses a message.
        public static let noMessageStored = Self(rawValue: "noMessageStored")
        /// Who was offline gets the newest.
        public static let mostRecentMessageStored = Self(rawValue: "mostRecentMessageStored")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How an audience is reached.
    public struct AudienceDelivery: OpenEnumeration {
        /// By a broadcast channel.
        public static let channel = Self(rawValue: "channel")
        /// By the tokens of its activities.
        public static let tokens = Self(rawValue: "tokens")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The state of a channel.
    public struct ChannelState: OpenEnumeration {
        /// Apple was asked for it.
        public static let creating = Self(rawValue: "creating")
        /// It takes messages.
        public static let active = Self(rawValue: "active")
        /// It is kept for a while after its event.
        public static let retiring = Self(rawValue: "retiring")
        /// Apple was asked to delete it.
        public static let deleting = Self(rawValue: "deleting")
        /// Apple deleted it.
        public static let deleted = Self(rawValue: "deleted")
        /// Apple does not know it any more.
        public static let missing = Self(rawValue: "missing")
        /// Apple refused it.
        public static let failed = Self(rawValue: "failed")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How far the channel of an audience has come.
    public struct AudienceChannelState: OpenEnumeration {
        /// Its time has not come.
        public static let waiting = Self(rawValue: "waiting")
        /// It is being made.
        public static let pending = Self(rawValue: "pending")
        /// It takes messages.
        public static let active = Self(rawValue: "active")
        /// It is kept for a while after the event.
        public static let retiring = Self(rawValue: "retiring")
        /// It is gone.
        public static let deleted = Self(rawValue: "deleted")
        /// Apple refused it; it is tried again.
        public static let failed = Self(rawValue: "failed")
        /// The audience is reached by tokens.
        public static let none = Self(rawValue: "none")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What became of an audience's channel when its event was reopened.
    public struct ChannelFate: OpenEnumeration {
        /// It is there with its followers.
        public static let kept = Self(rawValue: "kept")
        /// Another is made; the followers of the old one are lost.
        public static let new = Self(rawValue: "new")
        /// The audience is reached by tokens.
        public static let none = Self(rawValue: "none")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether a key file can be used.
    public struct CredentialState: OpenEnumeration {
        /// It can.
        public static let ok = Self(rawValue: "ok")
        /// It is not there.
        public static let missing = Self(rawValue: "missing")
        /// It is no key.
        public static let unreadable = Self(rawValue: "unreadable")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The state of an event.
    public struct EventState: OpenEnumeration {
        /// Declared, and nothing was sent.
        public static let scheduled = Self(rawValue: "scheduled")
        /// It takes messages.
        public static let live = Self(rawValue: "live")
        /// It had its end.
        public static let ended = Self(rawValue: "ended")
        /// It was called off.
        public static let cancelled = Self(rawValue: "cancelled")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Why a lookup found nothing.
    public struct MissingReason: OpenEnumeration {
        /// There is none for the app.
        public static let eventNotFound = Self(rawValue: "event-not-found")
        /// Its channel is being made.
        public static let channelPending = Self(rawValue: "channel-pending")
        /// It is over.
        public static let eventEnded = Self(rawValue: "event-ended")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a message is to an activity.
    public struct MessageKind: OpenEnumeration {
        /// Starts it.
        public static let start = Self(rawValue: "start")
        /// Changes what it shows.
        public static let update = Self(rawValue: "update")
        /// Ends it.
        public static let end = Self(rawValue: "end")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The state of a broadcast or a push.
    public struct BroadcastState: OpenEnumeration {
        /// Its sendAt has not come.
        public static let scheduled = Self(rawValue: "scheduled")
        /// Some of it is under way.
        public static let queued = Self(rawValue: "queued")
        /// Nothing more happens to it.
        public static let done = Self(rawValue: "done")
        /// It was withdrawn, or its event was over first.
        public static let cancelled = Self(rawValue: "cancelled")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whom a delivery goes to.
    public struct DeliveryKind: OpenEnumeration {
        /// A channel.
        public static let channel = Self(rawValue: "channel")
        /// Activities that have a token and no channel.
        public static let tokens = Self(rawValue: "tokens")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The state of a delivery.
    public struct DeliveryState: OpenEnumeration {
        /// For its channel, or its time.
        public static let waiting = Self(rawValue: "waiting")
        /// For its turn.
        public static let queued = Self(rawValue: "queued")
        /// A request is under way.
        public static let sending = Self(rawValue: "sending")
        /// APNs said 200.
        public static let accepted = Self(rawValue: "accepted")
        /// Newer content went instead.
        public static let superseded = Self(rawValue: "superseded")
        /// It was not worth sending any more.
        public static let expired = Self(rawValue: "expired")
        /// APNs refused it for good.
        public static let rejected = Self(rawValue: "rejected")
        /// APNs did not answer a start, which is not repeated.
        public static let unknown = Self(rawValue: "unknown")
        /// It was withdrawn.
        public static let cancelled = Self(rawValue: "cancelled")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
