package import Foundation
package import Grandstand

extension CalendarPlan {
    /// The entries of a file, and how they may be applied.
    package struct Request: Sendable {
        package var drafts: [CalendarDraft]
        /// The entries that could not be read.
        package var problems: [CalendarProblem]
        /// Whether to cancel events even if unusually many are missing in the file.
        package var acceptsRemovals: Bool

        package init(drafts: [CalendarDraft], problems: [CalendarProblem] = [], acceptsRemovals: Bool = false) {
            self.drafts = drafts
            self.problems = problems
            self.acceptsRemovals = acceptsRemovals
        }
    }

    /// The present events, and the other values that the plan depends on.
    package struct Situation: Sendable {
        package var season: SeasonName
        /// The season's events, and other events that have the key of a draft.
        package var events: [EventKey: SeasonEvent]
        /// Keys of events that the API key cannot access.
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

        /// The season's events by their UID in the calendar.
        package var known: [String: SeasonEvent] {
            Dictionary(
                events.values.compactMap { event in
                    event.note.flatMap { $0.season == season ? ($0.uid, event) : nil }
                }, uniquingKeysWith: { $0.key.rawValue < $1.key.rawValue ? $0 : $1 })
        }
    }

    /// An event to be created or changed.
    package struct Write: Sendable, Hashable {
        /// The line of its entry; `nil`: the file has no entry.
        package var line: Int?
        package var uid: String
        package var key: EventKey
        /// The present event; `nil`: it does not exist.
        package var present: SeasonEvent?
        /// The complete new declaration.
        package var document: EventDocument
        /// The members that change, with old and new value. The calendar's note in `metadata` is left out.
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

    /// A member that changes. A value that is `nil` is absent.
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
        /// The note to store in the event's metadata.
        package var note: SeasonNote

        package enum Reason: String, Sendable, Hashable {
            case cancelled
            /// The file no longer has the entry.
            case vanished
        }
    }

    /// Why no event is cancelled: too many are missing or cancelled at once.
    package struct Shrinkage: Sendable, Hashable {
        /// The events that the file no longer has, or cancels.
        package var vanished: Int
        /// The season's events that have not begun.
        package var future: Int

        package init(vanished: Int, future: Int) {
            self.vanished = vanished
            self.future = future
        }
    }
}

/// An entry of a calendar that was not applied.
package struct CalendarProblem: Sendable, Hashable {
    /// `nil`: the problem is not in a single line.
    package var line: Int?
    package var detail: String
    /// The UID of the entry; `nil`: it is unknown, or the problem concerns several entries.
    package var uid: String?

    package init(line: Int?, detail: String, uid: String?) {
        self.line = line
        self.detail = detail
        self.uid = uid
    }

    init(_ fault: CalendarFault) { self.init(line: fault.line, detail: fault.detail, uid: fault.uid) }
}
