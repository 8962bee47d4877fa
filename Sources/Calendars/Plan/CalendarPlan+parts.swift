package import Foundation
package import Grandstand

extension CalendarPlan {
    /// What a file asks for.
    package struct Request: Sendable {
        package var drafts: [CalendarDraft]
        /// What of the file could not be read.
        package var problems: [CalendarProblem]
        /// Whether any number of events may be cancelled.
        package var acceptsRemovals: Bool

        package init(drafts: [CalendarDraft], problems: [CalendarProblem] = [], acceptsRemovals: Bool = false) {
            self.drafts = drafts
            self.problems = problems
            self.acceptsRemovals = acceptsRemovals
        }
    }

    /// The inputs of the decision.
    package struct Situation: Sendable {
        package var season: SeasonName
        /// The season's events, and all others that a draft's key names.
        package var events: [EventKey: SeasonEvent]
        /// Keys of events that the API key does not reach.
        package var outOfReach: Set<EventKey>
        package var now: Date

        package init(
            season: SeasonName, events: [EventKey: SeasonEvent], outOfReach: Set<EventKey> = [], now: Date
        ) {
            self.season = season
            self.events = events
            self.outOfReach = outOfReach
            self.now = now
        }

        /// The season's events by their entries' UIDs.
        package var known: [String: SeasonEvent] {
            Dictionary(
                events.values.compactMap { event in
                    event.note.flatMap { $0.season == season ? ($0.uid, event) : nil }
                }, uniquingKeysWith: { $0.key.rawValue < $1.key.rawValue ? $0 : $1 })
        }
    }

    /// An event to be declared.
    package struct Write: Sendable, Hashable {
        /// Of its entry; `nil`: the file has none.
        package var line: Int?
        package var uid: String
        package var key: EventKey
        /// The event as it is; `nil`: there is none.
        package var present: SeasonEvent?
        /// The whole declaration.
        package var document: EventDocument
        /// What changes, from what to what; without what is remembered of the calendar.
        package var fields: [Field] = []

        package init(
            line: Int? = nil, uid: String, key: EventKey, present: SeasonEvent? = nil, document: EventDocument,
            fields: [Field] = []
        ) {
            self.line = line
            self.uid = uid
            self.key = key
            self.present = present
            self.document = document
            self.fields = fields
        }
    }

    /// A member that changes; `nil`: absent.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var old: [UInt8]?
        package var new: [UInt8]?
    }

    /// An event to be cancelled.
    package struct Cancellation: Sendable, Hashable {
        package var line: Int?
        package var uid: String
        package var event: SeasonEvent
        package var reason: Reason
        /// What is remembered of it.
        package var note: SeasonNote

        package enum Reason: String, Sendable, Hashable {
            case cancelled
            /// The file had it no more.
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

    init(_ fault: CalendarFault) { self.init(line: fault.line, detail: fault.detail, uid: fault.uid) }
}
