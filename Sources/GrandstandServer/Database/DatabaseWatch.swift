internal import Grandstand
internal import Logging
internal import Postgres
internal import Synchronization

/// Knows the database's present troubles, from a check each second (`check`) and from failed statements. It logs each
/// trouble once, with PostgreSQL's message, and once when it is over.
final class DatabaseWatch: Sendable {
    private struct State {
        /// The result of the last check; `nil`: the database is healthy.
        var found: DatabaseFinding?
        /// When the check in progress began.
        var checkBegan: ContinuousClock.Instant?
        /// The troubles that statements and connection attempts had, each with its last time.
        var seen: [DatabaseTrouble: (finding: DatabaseFinding, at: ContinuousClock.Instant)] = [:]
        /// The trouble that was logged last.
        var logged: DatabaseTrouble?
    }

    /// How long a trouble of a statement counts as present.
    private static let seenLifetime = Duration.seconds(10)
    /// A check that takes longer than this counts as a trouble.
    static let slowAfter = Duration.seconds(1)

    private let state = Mutex(State())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// Records an error of a statement or a connection attempt. An error that does not concern the database is ignored.
    func saw(_ error: PostgresError) {
        // One connection may break while the database is healthy. Only the checks decide whether it is unreachable.
        guard let finding = DatabaseFinding(error), finding.trouble != .unreachable else { return }
        state.withLock { $0.seen[finding.trouble] = (finding, .now) }
        logChange()
    }

    /// A present trouble, and whether requests fail because of it. Requests do not fail if the trouble only prevents new
    /// connections while open connections work.
    typealias Standing = (finding: DatabaseFinding, stops: Bool)

    /// All present troubles. The trouble that the last check found comes first.
    var active: [Standing] {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.seen = state.seen.filter { now - $0.value.at < Self.seenLifetime }
            var found = state.found
            if found == nil, let began = state.checkBegan, now - began > Self.slowAfter {
                found = DatabaseFinding(.slow)
            }
            let seen = state.seen.values.map(\.finding).filter { $0.trouble != found?.trouble }
                .sorted { $0.trouble.rawValue < $1.trouble.rawValue }
            return (found.map { [($0, true)] } ?? []) + seen.map { ($0, $0.trouble.stopsWrites) }
        }
    }

    /// Checks the database.
    func check(at database: DatabaseSession) async {
        state.withLock { $0.checkBegan = .now }
        let found = await database.probe()
        state.withLock { ($0.found, $0.checkBegan) = (found, nil) }
        logChange()
    }

    /// 1 for each present trouble, 0 for all others.
    func gauges(isClockWrong: Bool) -> [GaugeSample] {
        let troubles = Set(active.map(\.finding.trouble) + (isClockWrong ? [.clockOff] : []))
        return DatabaseTrouble.allCases.map {
            ("grandstand_database_trouble", [$0.rawValue], troubles.contains($0) ? 1 : 0)
        }
    }

    private func logChange() {
        let first = active.first?.finding
        let before = state.withLock { state in
            defer { state.logged = first?.trouble }
            return state.logged
        }
        guard first?.trouble != before else { return }
        guard let first else { return logger.notice("the database works again") }
        let (trouble, cause) = (first.trouble.rawValue, first.cause ?? "")
        logger.error("\(first.detail)", metadata: ["trouble": "\(trouble)", "error": "\(cause)"])
    }
}
