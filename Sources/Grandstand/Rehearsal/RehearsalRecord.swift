package import FoundationEssentials

/// The observations of one run of a rehearsal, with real times. The report is computed from them.
package struct RehearsalRecord: Sendable {
    /// A message that the server accepted.
    package struct Message: Sendable, Hashable {
        /// The event's index in the plan's scripts.
        package var event: Int
        package var number: Int
        /// When the organiser first sent the message.
        package var sentAt: Date
        package var acceptedAt: Date
        /// Whether the message waits for the interval of quiet messages. If so, its delay is not measured.
        package var isQuiet: Bool

        package init(event: Int, number: Int, sentAt: Date, acceptedAt: Date, isQuiet: Bool = false) {
            self.event = event
            self.number = number
            self.sentAt = sentAt
            self.acceptedAt = acceptedAt
            self.isQuiet = isQuiet
        }
    }

    /// What the server decided about a message.
    package struct Decision: Sendable, Hashable {
        /// The event's index in the plan's scripts.
        package var event: Int
        package var number: Int
        /// The outcome of a state; `nil`: the message was a broadcast, or was refused.
        package var outcome: StateOutcome?
        /// Whether the message is sent with priority 10.
        package var isUrgent: Bool
        /// The places of the message's content that a version of the app cannot decode, in words.
        package var faults: [String]

        package init(event: Int, number: Int, outcome: StateOutcome?, isUrgent: Bool, faults: [String]) {
            self.event = event
            self.number = number
            self.outcome = outcome
            self.isUrgent = isUrgent
            self.faults = faults
        }
    }

    /// A message that Apple accepted on a channel.
    package struct Arrival: Sendable, Hashable {
        package var event: Int
        package var channelID: String
        package var number: Int
        package var at: Date

        package init(event: Int, channelID: String, number: Int, at: Date) {
            self.event = event
            self.channelID = channelID
            self.number = number
            self.at = at
        }
    }

    /// A channel that Apple made or deleted.
    package struct PlaceChange: Sendable, Hashable {
        package var app: AppEnvironment
        package var at: Date
        /// 1: Apple made the channel; -1: Apple deleted it.
        package var by: Int

        package init(app: AppEnvironment, at: Date, by: Int) {
            self.app = app
            self.at = at
            self.by = by
        }
    }

    /// A call that the server refused, or a channel that did not exist.
    package struct Refusal: Sendable, Hashable {
        package var eventKey: String
        package var at: Date
        /// `declare`, `broadcast`, `state` or `channel`.
        package var action: String
        /// The last part of the problem's `type` URL. For the action `channel`: the reason why there is no channel, or
        /// the channel's state if no reason is known.
        package var problem: String
        package var detail: String

        package init(eventKey: String, at: Date, action: String, problem: String, detail: String) {
            self.eventKey = eventKey
            self.at = at
            self.action = action
            self.problem = problem
            self.detail = detail
        }
    }

    /// The real time at which the plan begins.
    package var base: Date
    package var finishedAt: Date
    package var messages: [Message] = []
    package var decisions: [Decision] = []
    package var arrivals: [Arrival] = []
    package var placeChanges: [PlaceChange] = []
    /// The times at which Apple accepted starts.
    package var starts: [Date] = []
    package var startCounts = StartReport.Counts()
    package var refusals: [Refusal] = []
    /// The channels that each event has in the end, by the event's index.
    package var channels: [Int: Set<String>] = [:]
    /// Deliveries of the events that were played, by state.
    package var outcomes: [String: Int] = [:]
    package var fault: RehearsalFault?

    package init(base: Date) {
        self.base = base
        finishedAt = base
    }
}

/// A fault that is caused on purpose.
package struct RehearsalFault: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// APNs answers 503.
        case outage
        /// A second server process is killed.
        case replica
        /// PostgreSQL is restarted.
        case database
    }

    package var kind: Kind
    package var at: Date
    /// How long the fault lasted; 0: only a moment.
    package var seconds: TimeInterval

    package init(kind: Kind, at: Date, seconds: TimeInterval) {
        self.kind = kind
        self.at = at
        self.seconds = seconds
    }
}
