package import FoundationEssentials

/// A calendar as it is kept.
package struct FixtureCalendar: Sendable {
    package var name: CalendarName
    package var declaration: CalendarDeclaration
    /// The reach of the key that declared it: the server's own syncs reach no further.
    package var reach: AppReach
    /// How its last sync went; `nil`: there was none.
    package var lastSync: LastSync?
    /// When the server fetches it next; `nil`: not by itself.
    package var nextRefreshAt: Date?
    /// Why the last file was not taken that the server fetched.
    package var failure: String?
    package var shrunk: CalendarShrunk?
    package var createdAt: Date
    package var updatedAt: Date
    /// Another one each time it is declared anew.
    package var version: Int

    package init(
        name: CalendarName, declaration: CalendarDeclaration, reach: AppReach, lastSync: LastSync? = nil,
        nextRefreshAt: Date? = nil, failure: String? = nil, shrunk: CalendarShrunk? = nil, createdAt: Date,
        updatedAt: Date, version: Int
    ) {
        self.name = name
        self.declaration = declaration
        self.reach = reach
        self.lastSync = lastSync
        self.nextRefreshAt = nextRefreshAt
        self.failure = failure
        self.shrunk = shrunk
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
    }

    /// The result of a sync, in numbers.
    package struct LastSync: Sendable, Hashable {
        package var at: Date
        /// As the audit log names them.
        package var by: String
        package var create: Int
        package var change: Int
        package var cancel: Int
        package var unchanged: Int
        package var problems: Int

        package init(
            at: Date, by: String, create: Int, change: Int, cancel: Int, unchanged: Int, problems: Int
        ) {
            self.at = at
            self.by = by
            self.create = create
            self.change = change
            self.cancel = cancel
            self.unchanged = unchanged
            self.problems = problems
        }
    }
}

extension FixtureCalendar: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("calendar", name.rawValue)
        for member in declaration.source.names {
            object.name(dynamic: member)
            object.raw(declaration.source[member] ?? [])
        }
        object.name("lastSync")
        if let lastSync {
            object.object { sync in
                sync.member("at", lastSync.at)
                sync.member("by", lastSync.by)
                sync.member("create", lastSync.create)
                sync.member("change", lastSync.change)
                sync.member("cancel", lastSync.cancel)
                sync.member("unchanged", lastSync.unchanged)
                sync.member("problems", lastSync.problems)
            }
        } else {
            object.null()
        }
        object.member("nextRefreshAt", nextRefreshAt)
        object.member("failure", failure)
        object.member("alarm", shrunk.map { _ in Quota.Alarm.calendarShrunk.rawValue })
        object.member("createdAt", createdAt)
        object.member("updatedAt", updatedAt)
    }
}

/// The alarm `calendar-shrunk` while it stands: more than a third of a calendar's events to come vanished from it at once.
package struct CalendarShrunk: Sendable, Hashable {
    package var calendar: String
    /// The apps of its entries' events: a key that does not reach all of them does not see the calendar.
    package var apps: [BundleID]
    package var vanished: Int
    /// Events that were to come.
    package var future: Int
    package var since: Date

    package init(calendar: String, apps: [BundleID] = [], vanished: Int, future: Int, since: Date) {
        self.calendar = calendar
        self.apps = apps
        self.vanished = vanished
        self.future = future
        self.since = since
    }

    /// The finding, without a full stop.
    package var finding: String {
        "\(vanished) of \(future) events to come vanished from the calendar \(calendar), or are cancelled in it, at "
            + "\(RFC3339.text(since)); none was cancelled"
    }

    /// The remedy, without a full stop.
    package var remedy: String {
        "look at the calendar's file and sync it again; `grandstand calendar sync \(calendar) --cancel-all` cancels them"
    }
}

extension CalendarShrunk: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("calendar", calendar)
        object.member("vanished", vanished)
        object.member("future", future)
        object.member("since", since)
        object.member("remedy", remedy)
    }

    /// Reads what is noted for webhooks when the alarm is raised.
    ///
    /// - Returns: `nil` for facts of another kind.
    init?(_ detail: JSONValue) {
        guard let calendar = detail["calendar"]?.string, let since = detail["since"]?.string.flatMap(RFC3339.date),
            case .number(let vanished)? = detail["vanished"]?.kind, let vanished = Int(vanished),
            case .number(let future)? = detail["future"]?.kind, let future = Int(future)
        else { return nil }
        self.init(calendar: calendar, vanished: vanished, future: future, since: since)
    }
}
