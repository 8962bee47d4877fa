internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// One call of an app to register.
struct Registration: Sendable {
    let key: InstallationKey
    let bundleID: BundleID
    let secret: SecretHash
    let state: InstallationState
    let now: Date
}

/// The transaction that makes registrations durable.
struct RegistrationTransaction: Sendable {
    let database: Database
    let numbers: AppNumbers
    let wakeUps: WakeUps
    /// The most new installations of one app in an hour; `nil`: any number.
    let mostNew: Int?

    /// The most attempts of a transaction that conflicts with others.
    private static let attempts = 4

    /// Registers in order. Most registrations are repetitions: they are read without a lock, and nothing is written.
    /// The other registrations are decided again under locks.
    ///
    /// - Throws: `Problem.contention` if other transactions caused a conflict several times in a row.
    func register(_ all: [Registration]) async throws -> [Result<Bool, Problem>] {
        var register = try InstallationRows.register(
            try await database.query(InstallationRows.load(Self.names(all))))
        var results = all.map { Self.put($0, &register) }
        let changing = all.indices.filter { register.changed.contains(all[$0].key) }
        guard !changing.isEmpty else { return results }
        for (index, result) in zip(changing, try await write(changing.map { all[$0] })) { results[index] = result }
        return results
    }

    private func write(_ some: [Registration]) async throws -> [Result<Bool, Problem>] {
        for _ in 0..<Self.attempts {
            do {
                return try await writeOnce(some)
            } catch let error as PostgresError where error.sqlState == .uniqueViolation {
                // Another replica registered the same installation or token first. The next attempt loads that
                // registration.
                continue
            } catch let problem as Problem where problem == .contention {
                continue
            }
        }
        throw Problem.contention
    }

    private func writeOnce(_ some: [Registration]) async throws -> [Result<Bool, Problem>] {
        let names = Self.names(some)
        let now = some.map(\.now).max() ?? .distantPast
        let (results, isLate) = try await database.transaction { connection -> Work in
            let rows = try await connection.pipeline([
                Outbox.planning(rows: 1), StartOpening.shared, InstallationRows.lockApps(names.keys),
                InstallationRows.lock(names), InstallationRows.load(names),
                InstallationRows.account("\(Set(names.keys.map { Int32($0.app) }).sorted())", at: now),
            ])
            let apps = Set(try rows[2].map { try $0.decode(Int.self, "id") })
            var accounts = try InstallationRows.accounts(rows[5])
            for app in apps where accounts[app] == nil { accounts[app] = DeviceAccount() }
            var register = try InstallationRows.register(rows[4], accounts: accounts, mostNew: mostNew)
            let results = some.map { registration -> Result<Bool, Problem> in
                guard apps.contains(registration.key.app) else {
                    numbers.forget(registration.key.app)
                    return .failure(Problem.noApp(registration.bundleID))
                }
                return Self.put(registration, &register)
            }
            let changes = register.changes
            return Work(
                results: results, statements: InstallationRows.write(changes, at: now),
                hasFollowers: !changes.followers.isEmpty)
        } closing: {
            $0.statements
        } _: { work, rows in
            (work.results, work.hasFollowers && rows[work.statements.count - 1].affectedRows > 0)
        }
        if isLate { wakeUps.send([.starts]) }
        return results
    }

    private struct Work {
        let results: [Result<Bool, Problem>]
        let statements: [PostgresQuery]
        /// Whether the last statement queues late followers in runs of starts.
        let hasFollowers: Bool
    }

    private static func put(
        _ registration: Registration, _ register: inout InstallationRows.Register
    ) -> Result<Bool, Problem> {
        Result { () throws(Problem) in
            try register.put(
                registration.state, of: registration.key, secret: registration.secret, at: registration.now)
        }
    }

    private static func names(_ some: [Registration]) -> InstallationRows.Names {
        var names = InstallationRows.Names()
        for registration in some { names.add(registration.key, registration.state.startTokens) }
        return names
    }
}
