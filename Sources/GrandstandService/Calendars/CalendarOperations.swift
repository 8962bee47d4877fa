internal import Calendars
package import FoundationEssentials
package import Grandstand

/// Operations on calendars: declaring them, and syncing their events with their files.
package struct CalendarOperations: Sendable {
    package let store: any CalendarStore
    private let apps: any AppStore
    private let gateway: any CalendarGateway
    private let documents: EventDocuments
    private let networks: NetworkGuard
    private let zones: ZoneFiles
    private let tenure: ChannelTenure
    package let now: @Sendable () -> Date

    /// Files that are read at a time: each may take a hundred megabytes while it is.
    package let turns = Semaphore(permits: 2)

    /// - Parameters:
    ///   - networks: where a calendar's `url` may lead.
    ///   - tenure: how long events hold their channels, for the forecasts.
    package init(
        store: any CalendarStore, apps: any AppStore, gateway: any CalendarGateway, documents: EventDocuments,
        networks: NetworkGuard, zones: ZoneFiles = ZoneFiles(), tenure: ChannelTenure,
        now: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.apps = apps
        self.gateway = gateway
        self.documents = documents
        self.networks = networks
        self.zones = zones
        self.tenure = tenure
        self.now = now
    }

    /// The parts of a sync.
    package enum Source: Sendable, Hashable {
        case file([UInt8])
        /// From the calendar's `url`.
        case url
        /// None: events whose entries the last file lacked are cancelled.
        case last
    }

    /// - Throws: `invalid-request`, `unknown-field`, `forbidden`, `version-mismatch`.
    package func put(
        _ name: CalendarName, _ body: JSONValue, within reach: AppReach, by actor: AuditActor,
        if condition: WriteCondition
    ) async throws -> (calendar: FixtureCalendar, created: Bool) {
        let declaration = try CalendarDeclaration(
            body, networks: networks, documents: documents, zones: { zones.zone($0) })
        var errors: [FieldError] = []
        for (place, audience) in declaration.audiences.enumerated() {
            guard reach.covers(audience.bundleID) else { throw reach.refusal }
            guard try await apps.app(audience.bundleID)?.bundleID != audience.bundleID else { continue }
            errors.append(
                FieldError(
                    pointer: "/audiences/\(place)/bundleId",
                    detail: "There is no app \(audience.bundleID). Register it with PUT /v1/apps first."))
        }
        guard errors.isEmpty else {
            throw Problem(.invalidRequest, "Some audiences name an app that is not registered.", errors: errors)
        }
        return try await store.put(name, declaration, within: reach, by: actor, if: condition, now: now())
    }

    /// - Throws: `calendar-not-found`, `forbidden`.
    package func calendar(_ name: CalendarName, within reach: AppReach) async throws -> FixtureCalendar {
        guard let calendar = try await store.calendar(name) else { throw Problem.calendarNotFound(name) }
        guard reach.covers(eventOf: calendar.declaration.apps.map(\.bundleID)) else { throw reach.refusal }
        return calendar
    }

    /// Has the file that a sync is made of; asks nothing of the database while it is fetched.
    ///
    /// - Throws: `calendar-unavailable`; `invalid-request` where there is nothing to fetch.
    package func file(_ source: Source, of calendar: FixtureCalendar) async throws -> [UInt8]? {
        switch source {
        case .file(let bytes): return bytes
        case .last: return nil
        case .url:
            guard let url = calendar.declaration.url else {
                throw Problem(
                    .invalidRequest,
                    "The calendar \(calendar.name) has no url. Send its file as \(calendar.declaration.format.mediaType)."
                )
            }
            switch await gateway.fetch(url, upTo: CalendarLimits.bytes) {
            case .file(let bytes): return bytes
            case .failed(let reason): throw Problem(.calendarUnavailable, "\(url.origin): \(reason).")
            }
        }
    }

    /// Syncs the calendar's events with the file, or previews that.
    ///
    /// - Parameter file: `nil`: events whose entries the last file lacked are cancelled.
    /// - Throws: `invalid-request` with the line, for a file that cannot be read as a whole; what `CalendarStore.sync`
    ///   throws.
    package func sync(
        _ calendar: FixtureCalendar, _ file: [UInt8]?, cancelAll: Bool, isRehearsal: Bool, within reach: AppReach,
        by actor: AuditActor
    ) async throws -> CalendarReport {
        let wanted =
            try file.map { try wish($0, calendar, cancelAll: cancelAll) } ?? .init(drafts: nil, cancelAll: cancelAll)
        return try await store.sync(
            calendar, wanted, isRehearsal: isRehearsal, within: reach, by: actor, tenure: tenure, now: now())
    }

    private func wish(
        _ bytes: [UInt8], _ calendar: FixtureCalendar, cancelAll: Bool
    ) throws(Problem) -> CalendarPlan.Wish {
        let declaration = calendar.declaration
        let file: CalendarFile
        do throws(CalendarFault) {
            file = try declaration.reading(zones: { [zones] in zones.zone($0) }).read(bytes)
        } catch {
            throw Problem(
                .invalidRequest, "The file cannot be read: line \(error.line): \(error.detail)",
                errors: [FieldError(pointer: "line \(error.line)", detail: error.detail)],
                members: [("line", .integer(error.line))])
        }
        var drafts: [CalendarDraft] = []
        var problems = file.faults.map(CalendarProblem.init)
        for entry in file.entries {
            do throws(CalendarFault) {
                drafts.append(try declaration.draft(entry))
            } catch {
                problems.append(CalendarProblem(error))
            }
        }
        return CalendarPlan.Wish(drafts: drafts, problems: problems, cancelAll: cancelAll)
    }

    /// Fetches a calendar that is due and syncs it, as far as the key reached that declared it.
    func refresh(_ calendar: FixtureCalendar) async throws {
        let file = try await file(.url, of: calendar)
        _ = try await sync(
            calendar, file, cancelAll: false, isRehearsal: false, within: calendar.reach, by: .server)
    }
}

extension CalendarProblem {
    init(_ fault: CalendarFault) { self.init(line: fault.line, detail: fault.detail, uid: fault.uid) }
}
