package import FoundationEssentials

extension CalendarPlan {
    /// An entry's document when it was synced last.
    package struct Synced: Sendable, Hashable {
        package var key: EventKey
        package var document: EventDocument
        /// The last file had it no more, or cancelled it, and its event was not cancelled for that.
        package var isMissing: Bool
        /// Its event was cancelled because the calendar said so, or had it no more.
        package var isCancelled: Bool

        package init(key: EventKey, document: EventDocument, isMissing: Bool = false, isCancelled: Bool = false) {
            self.key = key
            self.document = document
            self.isMissing = isMissing
            self.isCancelled = isCancelled
        }
    }

    /// An event as it is.
    package struct Present: Sendable, Hashable {
        package var event: Event
        /// The clock closed it: it lives again when it is moved.
        package var isExpired: Bool

        package init(event: Event, isExpired: Bool = false) {
            self.event = event
            self.isExpired = isExpired
        }
    }

    /// The source of a sync.
    package struct Wish: Sendable {
        /// `nil`: there is no file; events whose entries the last one lacked are cancelled.
        package var drafts: [CalendarDraft]?
        /// What of the file could not be read.
        package var problems: [CalendarProblem]
        /// Whether any number of events may be cancelled.
        package var cancelAll: Bool

        package init(drafts: [CalendarDraft]?, problems: [CalendarProblem] = [], cancelAll: Bool = false) {
            self.drafts = drafts
            self.problems = problems
            self.cancelAll = cancelAll
        }
    }

    /// The inputs of the decision.
    package struct Situation: Sendable {
        /// By UID.
        package var synced: [String: Synced]
        package var events: [EventKey: Present]
        /// Keys that are another calendar's.
        package var taken: Set<EventKey>
        /// The alarm `calendar-shrunk` stands.
        package var isShrunk: Bool
        package var reach: AppReach
        package var now: Date

        package init(
            synced: [String: Synced], events: [EventKey: Present], taken: Set<EventKey> = [], isShrunk: Bool = false,
            reach: AppReach = .all, now: Date
        ) {
            self.synced = synced
            self.events = events
            self.taken = taken
            self.isShrunk = isShrunk
            self.reach = reach
            self.now = now
        }
    }

    /// An event to be declared.
    package struct Write: Sendable, Hashable {
        package var uid: String
        package var specification: EventSpecification
        /// Of an event that is there: what changes, from what to what.
        package var fields: [Field]
    }

    /// A member that changes; `nil`: absent.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var old: [UInt8]?
        package var new: [UInt8]?
    }

    /// An event to be cancelled.
    package struct Cancellation: Sendable, Hashable {
        package var uid: String
        package var event: Event
        package var reason: Reason

        package enum Reason: String, Sendable, Hashable {
            case cancelled
            /// The file had it no more; without a file: what the last one lacked or cancelled, and was held back.
            case vanished
        }
    }

    /// Why nothing is cancelled.
    package struct Shrinkage: Sendable, Hashable {
        /// Those that the file has no more, or cancels.
        package var vanished: Int
        /// Entries whose events had not begun.
        package var future: Int

        package init(vanished: Int, future: Int) {
            self.vanished = vanished
            self.future = future
        }
    }
}

/// Something of a calendar that was not taken.
package struct CalendarProblem: Sendable, Hashable {
    /// `nil`: it is about no single line.
    package var line: Int?
    package var detail: String
    /// The UID of its entry; `nil`: it is not known, or the fault is of no single entry.
    package var uid: String?

    package init(line: Int?, detail: String, uid: String?) {
        self.line = line
        self.detail = detail
        self.uid = uid
    }
}
