internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Identifies one copy of an app on a phone by its app, its environment and a UUID that the app generated.
package struct InstallationID: Sendable, Hashable {
    var bundleID: BundleID
    var environment: APNsEnvironment
    var id: UUID
}

/// One call of an app to register: the whole state of its installation.
struct Registration: Sendable {
    let id: InstallationID
    let secret: SecretHash
    /// The state as the tables return it (`normalized`).
    var draft: Contract.InstallationDraft
    /// Why a new installation is refused.
    var refusal: Problem?
    let now: Date
    /// The installation's row as the tables have it; after `decide`, as the registration leaves it.
    var row = Row()

    struct Row: Sendable {
        /// The number of the app (`app_environments.id`).
        var app: Int32 = 0
        var id = 0
        /// The state before the registration; a token that APNs refused is empty. `nil`: the installation is new.
        var state: Contract.InstallationDraft?
        var secret: SecretHash?
        /// When it was last seen, to the day.
        var seenAt = Date.distantPast
        /// The time that each new token moves further into the future (`DeviceBounds.pace`); `nil`: the installation
        /// has registered no token yet.
        var pacedUntil: Date?
        /// For a new installation: how many of its app were created in this hour. Others of the same transaction do not
        /// count yet.
        var created = 0
    }

    var tokens: [Contract.StartTokenDraft] { draft.startTokens ?? [] }
    var topics: [String] { draft.topics ?? [] }

    /// The tokens that differ from the registered ones, or that APNs refused.
    var newTokens: [Contract.StartTokenDraft] { tokens.filter { row.state?.startTokens?.contains($0) != true } }
    var oldTokens: [Contract.StartTokenDraft] { (row.state?.startTokens ?? []).filter { !tokens.contains($0) } }

    /// The installation and the tokens, which two registrations of one transaction must not share.
    var names: Set<String> {
        let app = "\(id.environment) \(id.bundleID.topic)"
        return Set(tokens.map { "\(app) \($0.token) \($0.attributesType)" } + ["\(app) \(id.id)"])
    }

    /// A repeated registration updates `seenAt` at most once in this many seconds.
    private static let day: TimeInterval = 86_400

    /// Decides what the registration changes. A state without a sequence leaves the known sequence as it is.
    ///
    /// - Parameter mostNew: the most new installations of one app in an hour; `nil`: any number.
    /// - Returns: whether anything changes.
    /// - Throws: `wrong-installation-secret`; `stale-installation` for a lower sequence than the known one;
    ///   `rate-limited` beyond a limit of `DeviceBounds`.
    mutating func decide(mostNew: Int?) throws(Problem) -> Bool {
        if let known = row.state {
            guard row.secret == secret else { throw .wrongInstallationSecret }
            if let sequence = draft.sequence, let newest = known.sequence, sequence < newest {
                throw Problem(
                    .staleInstallation,
                    "The sequence \(sequence) is older than \(newest), which is known. Nothing was changed; send the "
                        + "whole state with a higher one."
                ) { $0.sequence = newest }
            }
            draft.sequence = draft.sequence ?? known.sequence
        }
        let isSeen = now.timeIntervalSince(row.seenAt) < Self.day
        guard !isSeen || draft != row.state else { return false }
        if !isSeen { row.seenAt = now }
        row.pacedUntil = try DeviceBounds.pace(newTokens.count, row.pacedUntil, at: now)
        if row.state == nil {
            if let refusal { throw refusal }
            try DeviceBounds.requireRoom(created: row.created, mostNew: mostNew, at: now)
        }
        return true
    }
}

extension Contract.InstallationDraft {
    /// The state as the tables return it: the first two numbers of the version, tokens in lower case and in the order of
    /// their types, each topic once.
    var normalized: Contract.InstallationDraft {
        var state = self
        let system = SystemVersion.number(systemVersion)
        state.systemVersion = "\(system / 1_000).\(system % 1_000)"
        state.liveActivitiesEnabled = liveActivitiesEnabled ?? true
        state.frequentPushesEnabled = frequentPushesEnabled ?? true
        state.startTokens = (startTokens ?? []).sorted { $0.attributesType < $1.attributesType }.map {
            Contract.StartTokenDraft(attributesType: $0.attributesType, token: $0.token.lowercased())
        }
        state.topics = Set(topics ?? []).sorted()
        return state
    }
}

/// The transactions that make registrations and reports of activities durable.
struct InstallationTransactions: Sendable {
    let database: Database
    let wakeUps: WakeUps
    /// The most new installations of one app in an hour; `nil`: any number.
    let mostNew: Int?

    /// Registers in order. Most registrations are repetitions: they are read without a lock, and nothing is written.
    /// The other registrations are decided again under locks.
    ///
    /// - Throws: `Problem.contention` if other transactions caused a conflict several times in a row. Then some
    ///   registrations may be durable; to repeat them changes nothing.
    func register(_ all: [Registration]) async throws -> [Result<Bool, Problem>] {
        try await all.inRounds(\.names) { some in
            let rows = try await database.pipeline([Outbox.planning(rows: 1), Registration.load(some)])[1]
            let changes = try decide(some, rows)
            var results = changes.map { $0.map { _ in false } }
            let changing = some.indices.filter { (try? changes[$0].get()) != nil }
            guard !changing.isEmpty else { return results }
            let apps = changing.compactMap { try? changes[$0].get()?.row.app }
            let written = try await write(changing.map { some[$0] }, of: apps)
            for (index, result) in zip(changing, written) { results[index] = result }
            return results
        }
    }

    /// - Returns: for each registration what it changes; `nil`: nothing.
    private func decide(_ some: [Registration], _ rows: PostgresRows) throws -> [Result<Registration?, Problem>] {
        try zip(some, rows).map { registration, row in
            var change = registration
            guard let app = try row.decode(Int32?.self, "app") else { return .failure(.noApp(change.id.bundleID)) }
            change.row = try Registration.Row(row, of: app)
            return Result { () throws(Problem) in try change.decide(mostNew: mostNew) ? change : nil }
        }
    }

    /// - Parameter apps: the number of the app of each registration.
    private func write(_ some: [Registration], of apps: [Int32]) async throws -> [Result<Bool, Problem>] {
        let now = some.map(\.now).max() ?? .distantPast
        let (results, isLate) = try await database.transaction { connection in
            let rows = try await connection.pipeline([
                Outbox.planning(rows: 1), StartStore.registrationLock, Registration.lockApps(apps),
                Registration.lock(some, of: apps), Registration.load(some, new: "nextval('installations_id_seq')"),
            ])
            let changes = try decide(some, rows[4])
            return (changes, RegistrationWrites(changes: changes.compactMap { try? $0.get() }, now: now))
        } closing: {
            $0.1.statements
        } _: { work, rows in
            let results = work.0.map { $0.map { $0.map { $0.row.state == nil } ?? false } }
            return (results, (rows.dropLast().last?.affectedRows ?? 0) > 0)
        }
        if isLate { wakeUps.send([.starts]) }
        return results
    }
}

extension Array {
    /// Works on the elements in rounds. No two elements of a round have a name in common, and of two that have one, the
    /// earlier comes in an earlier round.
    ///
    /// A round is repeated if another replica has registered the same installation or token first. The next attempt
    /// finds that registration. After another conflict, `Batch` repeats one element after the other.
    ///
    /// - Parameter work: returns an output for each element.
    /// - Throws: `Problem.contention` after four attempts.
    func inRounds<Name: Hashable, Output>(
        _ names: (Element) -> Set<Name>, _ work: ([Element]) async throws -> [Output]
    ) async throws -> [Output] {
        var (rest, outputs): ([Int], [Int: Output]) = (indices.map(\.self), [:])
        while !rest.isEmpty {
            var seen: Set<Name> = []
            let round = rest.filter { index in
                let names = names(self[index])
                defer { seen.formUnion(names) }
                return seen.isDisjoint(with: names)
            }
            rest.removeAll { round.contains($0) }
            let elements = round.map { self[$0] }
            for attempt in 1...4 {
                do {
                    for (index, output) in zip(round, try await work(elements)) { outputs[index] = output }
                    break
                } catch let error as PostgresError where error.sqlState == .uniqueViolation {
                    if attempt == 4 { throw Problem.contention }
                }
            }
        }
        return indices.compactMap { outputs[$0] }
    }
}
