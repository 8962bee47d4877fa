internal import Grandstand
internal import GrandstandHTTP
internal import GrandstandStore
internal import Logging
internal import Postgres
internal import PrometheusMetrics
internal import ServiceLifecycle
internal import Synchronization

/// What this process knows of the database's troubles: by looking every few seconds and whenever readiness is asked for, and by
/// what its statements meet. It logs each trouble once, with PostgreSQL's own words, and once when it is over.
final class DatabaseWatch: Service {
    private struct State {
        /// The last look's result, and when that look began.
        var found: DatabaseFinding?
        /// When the look that is under way began.
        var began: ContinuousClock.Instant?
        /// What statements and attempts to connect met, and when last.
        var seen: [DatabaseTrouble: (finding: DatabaseFinding, at: ContinuousClock.Instant)] = [:]
        /// What the log has said last.
        var told: DatabaseTrouble?
    }

    /// Between two looks that nobody asks for.
    private static let interval = Duration.seconds(2)
    /// How long a trouble that a statement met is taken to last.
    private static let memory = Duration.seconds(10)
    /// How long readiness waits for a look.
    private static let wait = Duration.milliseconds(150)
    /// After which a look that is under way is a finding of its own.
    private static let patience = Duration.seconds(1)

    private let state = Mutex(State())
    private let looks = SharedFlight<Int, Bool>(age: .seconds(1))
    private let probe = Mutex<DatabaseProbe?>(nil)
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// From now on it can look.
    func look(with probe: DatabaseProbe) { self.probe.withLock { $0 = probe } }

    /// An error of a statement, or of an attempt to connect. One that says nothing of the database is ignored.
    func saw(_ error: PostgresError) {
        // One statement may be slow without the others being so, and a connection may break for once: the looks tell.
        guard let finding = DatabaseFinding(error), finding.trouble != .slow, finding.trouble != .unreachable else {
            return
        }
        state.withLock { $0.seen[finding.trouble] = (finding, .now) }
        tell()
    }

    /// A trouble that stands.
    struct Standing: Sendable {
        let finding: DatabaseFinding
        /// Whether requests fail because of it: not where it keeps new connections from being made, and those that are there work.
        let stops: Bool
    }

    /// All troubles that stand, what the last look found first.
    var standing: [Standing] {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.seen = state.seen.filter { now - $0.value.at < Self.memory }
            var found = state.found
            if found == nil, let began = state.began, now - began > Self.patience { found = DatabaseFinding(.slow) }
            let seen = state.seen.values.map(\.finding).filter { $0.trouble != found?.trouble }
                .sorted { $0.trouble.rawValue < $1.trouble.rawValue }
            return (found.map { [Standing(finding: $0, stops: true)] } ?? [])
                + seen.map { Standing(finding: $0, stops: $0.trouble.stopsWrites) }
        }
    }

    /// Makes what stands at most a second old, within a fifth of a second. A look that takes longer goes on, and what was known
    /// before it counts until it has lasted for a second.
    func refresh() async {
        _ = try? await PostgresPatience.$current.withValue(.request(Self.wait)) { try await look() }
    }

    private func look() async throws {
        _ = try await looks.answer(0) { [self] in
            guard let probe = probe.withLock({ $0 }) else { return true }
            state.withLock { $0.began = .now }
            let found = await probe.finding()
            state.withLock { state in
                state.found = found
                state.began = nil
            }
            tell()
            return true
        }
    }

    func run() async {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                try? await look()
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    /// 1 for each trouble that stands, 0 for all others.
    func gauges(isClockOff: Bool) -> [GaugeSample] {
        var troubles = Set(standing.map(\.finding.trouble))
        if isClockOff { troubles.insert(.clockOff) }
        return DatabaseTrouble.allCases.map {
            GaugeSample("grandstand_database_trouble", [("trouble", $0.rawValue)], troubles.contains($0) ? 1 : 0)
        }
    }

    private func tell() {
        let first = standing.first?.finding
        let before = state.withLock { state in
            defer { state.told = first?.trouble }
            return state.told
        }
        guard first?.trouble != before else { return }
        guard let first else { return logger.notice("the database does its work again") }
        logger.error(
            "\(first.detail)",
            metadata: ["trouble": "\(first.trouble.rawValue)"].merging(first.cause.map { ["error": "\($0)"] } ?? [:]) {
                $1
            })
    }
}
