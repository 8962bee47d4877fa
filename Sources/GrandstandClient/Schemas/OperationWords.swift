extension GrandstandClient {
    /// The state of a start.
    public struct StartState: OpenEnumeration {
        /// Its time has not come.
        public static let scheduled = Self(rawValue: "scheduled")
        /// For the channel, or for content to show.
        public static let waiting = Self(rawValue: "waiting")
        /// Pushes are being made.
        public static let running = Self(rawValue: "running")
        /// Nothing is pending now.
        public static let done = Self(rawValue: "done")
        /// By hand.
        public static let stopped = Self(rawValue: "stopped")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How a calendar's file is written.
    public struct CalendarFormat: OpenEnumeration {
        /// ICalendar (RFC 5545).
        public static let ics = Self(rawValue: "ics")
        /// Comma-separated values.
        public static let csv = Self(rawValue: "csv")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How dates of a CSV file are written.
    public struct DatePattern: OpenEnumeration {
        /// ISO 8601.
        public static let iso = Self(rawValue: "iso")
        /// Day, month, year.
        public static let dmy = Self(rawValue: "dmy")
        /// Month, day, year.
        public static let mdy = Self(rawValue: "mdy")
        /// Year, month, day.
        public static let ymd = Self(rawValue: "ymd")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Why a sync cancels an event.
    public struct CalendarCancellation: OpenEnumeration {
        /// The file says so.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The file has it no more.
        public static let vanished = Self(rawValue: "vanished")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What stands until somebody acts.
    public struct Alarm: OpenEnumeration {
        /// The app's capability for broadcasts is off at Apple.
        public static let capabilityOff = Self(rawValue: "capability-off")
        /// APNs refuses many tokens, so the mistake is not each phone's.
        public static let tokensRefused = Self(rawValue: "tokens-refused")
        /// A calendar lost much at once.
        public static let calendarShrunk = Self(rawValue: "calendar-shrunk")
        /// Apple's list lacks channels that exist.
        public static let listIncomplete = Self(rawValue: "list-incomplete")
        /// A channel may have been made twice.
        public static let ambiguousCreation = Self(rawValue: "ambiguous-creation")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How much of a limit is taken, in a word.
    public struct QuotaLevel: OpenEnumeration {
        /// There is room.
        public static let ok = Self(rawValue: "ok")
        /// Soon there is none.
        public static let warning = Self(rawValue: "warning")
        /// There is next to none.
        public static let critical = Self(rawValue: "critical")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a key may do.
    public struct Scope: OpenEnumeration {
        /// Look channels up.
        public static let lookup = Self(rawValue: "lookup")
        /// That, and what installations do.
        public static let device = Self(rawValue: "device")
        /// Events, broadcasts, starts.
        public static let organise = Self(rawValue: "organise")
        /// Channels, quotas, reconciliations, the audit log.
        public static let operate = Self(rawValue: "operate")
        /// Everything.
        public static let admin = Self(rawValue: "admin")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether a key is good.
    public struct KeyState: OpenEnumeration {
        /// It is.
        public static let active = Self(rawValue: "active")
        /// Its time is over.
        public static let expired = Self(rawValue: "expired")
        /// It was ended.
        public static let revoked = Self(rawValue: "revoked")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The state of a Live Activity, as ActivityKit has it.
    public struct ActivityState: OpenEnumeration {
        /// It is shown.
        public static let active = Self(rawValue: "active")
        /// It is shown, and out of date.
        public static let stale = Self(rawValue: "stale")
        /// It is over and may be seen still.
        public static let ended = Self(rawValue: "ended")
        /// It is gone.
        public static let dismissed = Self(rawValue: "dismissed")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether APNs was reached lately.
    public struct Reachability: OpenEnumeration {
        /// It was not asked.
        public static let unknown = Self(rawValue: "unknown")
        /// It answered.
        public static let reachable = Self(rawValue: "reachable")
        /// It did not.
        public static let unreachable = Self(rawValue: "unreachable")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a webhook's message tells.
    public struct WebhookMessageType: OpenEnumeration {
        /// Nothing more happens to a broadcast.
        public static let broadcastSettled = Self(rawValue: "broadcast.settled")
        /// Apple does not know a channel any more.
        public static let channelMissing = Self(rawValue: "channel.missing")
        /// Another channel took its place.
        public static let channelReplaced = Self(rawValue: "channel.replaced")
        /// A limit is nearer, or further.
        public static let quotaLevel = Self(rawValue: "quota.level")
        /// Apple's list and the ledger differ.
        public static let reconciliationFound = Self(rawValue: "reconciliation.found")
        /// An app's capability is off at Apple.
        public static let capabilityOff = Self(rawValue: "capability.off")
        /// APNs refuses many tokens.
        public static let tokensRefused = Self(rawValue: "tokens.refused")
        /// A calendar lost much at once.
        public static let calendarShrunk = Self(rawValue: "calendar.shrunk")
        /// Somebody tried the webhook; it cannot be asked for.
        public static let webhookTest = Self(rawValue: "webhook.test")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How far a message to a webhook has come.
    public struct WebhookDeliveryState: OpenEnumeration {
        /// It waits for its next try.
        public static let queued = Self(rawValue: "queued")
        /// It is being posted.
        public static let sending = Self(rawValue: "sending")
        /// It was taken.
        public static let delivered = Self(rawValue: "delivered")
        /// It was tried for three days.
        public static let failed = Self(rawValue: "failed")
        /// The webhook is gone or disabled.
        public static let cancelled = Self(rawValue: "cancelled")

        /// The word.
        public let rawValue: String

        /// Any word; one that is none of these is a newer server's.
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
