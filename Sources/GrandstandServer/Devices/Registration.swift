internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The transactions that make registrations and reports of activities durable.
struct InstallationTransactions: Sendable {
    let database: Database
    let wakeUps: WakeUps
    /// The most new installations of one app in an hour; `nil`: any number.
    let newPerHour: Int?

    /// Registers in order. Most registrations are repetitions: they are read without a lock, and nothing is written.
    /// The other registrations are decided again under locks.
    ///
    /// - Throws: `Problem.contention` if other transactions caused a conflict several times in a row. Then some
    ///   registrations may be durable; to repeat them changes nothing.
    func register(_ all: [Registration]) async throws -> [Result<Bool, Problem>] {
        try await all.inRounds(\.conflictKeys) { some in
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
            return Result { () throws(Problem) in try change.decide(mostNew: newPerHour) ? change : nil }
        }
    }

    /// - Parameter apps: the number of the app of each registration.
    private func write(_ some: [Registration], of apps: [Int32]) async throws -> [Result<Bool, Problem>] {
        let now = some.map(\.now).max() ?? .distantPast
        let (results, isLate) = try await database.transaction { connection in
            let rows = try await connection.pipeline([
                Outbox.planning(rows: 1), Registration.lockApps(apps), StartStore.registrationLock,
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
