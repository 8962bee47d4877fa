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

    var app: AppEnvironment { AppEnvironment(bundleID: bundleID, environment: environment) }
}

/// One call of an app to register: the whole state of its installation.
struct Registration: Sendable {
    let id: InstallationID
    let secret: SecretHash
    /// The state as the tables return it, so that two states can be compared: the first two numbers of the version,
    /// tokens in lower case and in the order of their types, each topic once.
    var draft: Contract.InstallationDraft
    let system: SystemVersion
    let now: Date

    /// - Throws: `internal-error` for a version that the contract should have refused.
    init(
        _ draft: Contract.InstallationDraft, of id: InstallationID, secret: SecretHash, now: Date
    ) throws(Problem) {
        guard let system = SystemVersion(draft.systemVersion) else {
            throw Problem(.internalError, "openapi.yaml allows a version that this server does not.")
        }
        self.id = id
        self.secret = secret
        self.draft = draft
        self.draft.systemVersion = system.description
        self.draft.liveActivitiesEnabled = draft.liveActivitiesEnabled ?? true
        self.draft.frequentPushesEnabled = draft.frequentPushesEnabled ?? true
        self.draft.startTokens = (draft.startTokens ?? []).sorted { $0.attributesType < $1.attributesType }.map {
            Contract.StartTokenDraft(attributesType: $0.attributesType, token: $0.token.lowercased())
        }
        self.draft.topics = Set(draft.topics ?? []).sorted()
        self.system = system
        self.now = now
    }

    var tokens: [Contract.StartTokenDraft] { draft.startTokens ?? [] }
    var topics: [String] { draft.topics ?? [] }

    /// Whether a push can start activities on the installation, if it has a start token for their type.
    var takesStarts: Bool { draft.liveActivitiesEnabled == true && system >= .firstWithStarts }

    /// The installation and the tokens, which two registrations of one transaction must not share.
    var names: Set<String> {
        let app = "\(id.environment) \(id.bundleID.topic)"
        return Set(tokens.map { "\(app) \($0.token) \($0.attributesType)" } + ["\(app) \(id.id)"])
    }

    /// What the tables have for a registration.
    struct Found: Sendable {
        /// The number of the app (`app_environments.id`); `nil`: there is no such app, or it is being deleted.
        var app: Int32?
        /// The number of the installation's row.
        var row: Int
        /// `nil`: the installation is new.
        var known: Known?
    }

    /// An installation as the tables have it.
    struct Known: Sendable {
        let secret: SecretHash?
        /// A token that APNs refused is empty.
        let draft: Contract.InstallationDraft
        /// When it was last seen, to the day.
        let seenAt: Date
        /// The time that each new token moves further into the future (`DeviceBounds.pace`); `nil`: the installation
        /// has registered no token yet.
        let pacedUntil: Date?
    }

    /// What a registration writes.
    struct Change: Sendable {
        let row: Int
        let app: Int32
        /// With the known sequence, if it has none.
        let registration: Registration
        /// The state before; `nil`: the installation is new.
        let old: Contract.InstallationDraft?
        let seenAt: Date
        let pacedUntil: Date?

        var draft: Contract.InstallationDraft { registration.draft }
        var newTokens: [Contract.StartTokenDraft] { registration.newTokens(old) }
        var oldTokens: [Contract.StartTokenDraft] {
            (old?.startTokens ?? []).filter { !registration.tokens.contains($0) }
        }

        /// Whether the installation can take starts, and is new or has a changed value on which its starts depend. A
        /// start that is under way may have to include it.
        var isFollower: Bool {
            registration.takesStarts
                && (draft.topics != old?.topics || draft.startTokens != old?.startTokens
                    || draft.systemVersion != old?.systemVersion
                    || draft.liveActivitiesEnabled != old?.liveActivitiesEnabled)
        }
    }

    /// A repeated registration updates `seenAt` at most once in this many seconds.
    private static let day: TimeInterval = 86_400

    /// Decides what the registration changes. A state without a sequence leaves the known sequence as it is.
    ///
    /// - Parameters:
    ///   - account: counts the installation if it is new.
    ///   - mostNew: the most new installations of one app in an hour; `nil`: any number.
    /// - Returns: `nil`: nothing.
    /// - Throws: `app-not-found`; `wrong-installation-secret`; `stale-installation` for a lower sequence than the known
    ///   one; `rate-limited` beyond a limit of `DeviceBounds` or `DeviceAccount`.
    func change(_ found: Found, _ account: inout DeviceAccount, mostNew: Int?) throws(Problem) -> Change? {
        guard let app = found.app else { throw .noApp(id.bundleID) }
        guard let known = found.known else {
            let pacedUntil = try DeviceBounds.pace(tokens.count, nil, at: now)
            try account.create(mostNew: mostNew, at: now)
            return Change(
                row: found.row, app: app, registration: self, old: nil, seenAt: now, pacedUntil: pacedUntil)
        }
        guard known.secret == secret else { throw .wrongInstallationSecret }
        if let sequence = draft.sequence, let newest = known.draft.sequence, sequence < newest {
            throw Problem(
                .staleInstallation,
                "The sequence \(sequence) is older than \(newest), which is known. Nothing was changed; send the whole "
                    + "state with a higher one.",
                members: [.sequence(newest)])
        }
        var merged = self
        merged.draft.sequence = draft.sequence ?? known.draft.sequence
        let seenAt = now.timeIntervalSince(known.seenAt) >= Self.day ? now : known.seenAt
        guard merged.draft != known.draft || seenAt != known.seenAt else { return nil }
        let pacedUntil = try DeviceBounds.pace(newTokens(known.draft).count, known.pacedUntil, at: now)
        return Change(
            row: found.row, app: app, registration: merged, old: known.draft, seenAt: seenAt, pacedUntil: pacedUntil)
    }

    /// The tokens that differ from the registered ones, or that APNs refused.
    private func newTokens(_ old: Contract.InstallationDraft?) -> [Contract.StartTokenDraft] {
        tokens.filter { old?.startTokens?.contains($0) != true }
    }
}

/// The transaction that makes registrations durable.
struct RegistrationTransaction: Sendable {
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
            let found = try Registration.found(
                try await database.pipeline([Outbox.planning(rows: 1), Registration.load(some)])[1])
            var anyNumber: [Int32: DeviceAccount] = [:]
            let changes = zip(some, found).map { decide($0, $1, &anyNumber, mostNew: nil) }
            let changing = some.indices.filter { (try? changes[$0].get()) != nil }
            var results = changes.map { $0.map { _ in false } }
            guard !changing.isEmpty else { return results }
            let apps = Set(changing.compactMap { found[$0].app }).sorted()
            let written = try await Database.retrying { try await write(changing.map { some[$0] }, of: apps) }
            for (index, result) in zip(changing, written) { results[index] = result }
            return results
        }
    }

    private func decide(
        _ registration: Registration, _ found: Registration.Found, _ accounts: inout [Int32: DeviceAccount],
        mostNew: Int?
    ) -> Result<Registration.Change?, Problem> {
        Result { () throws(Problem) in
            try registration.change(found, &accounts[found.app ?? 0, default: DeviceAccount()], mostNew: mostNew)
        }
    }

    private func write(_ some: [Registration], of apps: [Int32]) async throws -> [Result<Bool, Problem>] {
        let now = some.map(\.now).max() ?? .distantPast
        let (results, isLate) = try await database.transaction { connection -> Work in
            let rows = try await connection.pipeline([
                Outbox.planning(rows: 1), StartStore.registrationLock, Registration.lockApps(apps),
                Registration.lock(some),
                Registration.load(some, numberingNew: true), Registration.holders(some),
                DeviceAccount.load("\(apps)", at: now),
            ])
            var accounts: [Int32: DeviceAccount] = [:]
            for row in rows[6] { accounts[try row.decode("app")] = try DeviceAccount(row) }
            var changes: [Int: Registration.Change] = [:]
            let found = try Registration.found(rows[4])
            let results = some.indices.map { place in
                decide(some[place], found[place], &accounts, mostNew: mostNew).map { change in
                    changes[place] = change
                    return found[place].known == nil
                }
            }
            let writes = try RegistrationWrites(changes, holders: rows[5], at: now)
            return Work(results: results, statements: writes.statements, hasFollowers: !writes.followers.isEmpty)
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
}

extension Array {
    /// Works on the elements in rounds. No two elements of a round have a name in common, and of two that have one, the
    /// earlier comes in an earlier round.
    ///
    /// - Parameter work: returns an output for each element.
    func inRounds<Name: Hashable, Output>(
        _ names: (Element) -> Set<Name>, _ work: ([Element]) async throws -> [Output]
    ) async throws -> [Output] {
        var outputs: [Int: Output] = [:]
        var rest = Array<Int>(indices)
        while !rest.isEmpty {
            var seen: Set<Name> = []
            var (round, later): ([Int], [Int]) = ([], [])
            for index in rest {
                let names = names(self[index])
                if seen.isDisjoint(with: names) { round.append(index) } else { later.append(index) }
                seen.formUnion(names)
            }
            for (index, output) in zip(round, try await work(round.map { self[$0] })) { outputs[index] = output }
            rest = later
        }
        return indices.compactMap { outputs[$0] }
    }
}

extension Database {
    /// Repeats a transaction that conflicts with others: another replica may have registered the same installation or
    /// token first. The next attempt finds that registration.
    ///
    /// - Throws: `Problem.contention` after four attempts.
    static func retrying<Value>(_ body: () async throws -> Value) async throws -> Value {
        for _ in 0..<4 {
            do {
                return try await body()
            } catch let error as PostgresError where error.sqlState == .uniqueViolation {
                continue
            } catch let problem as Problem where problem == .contention {
                continue
            }
        }
        throw Problem.contention
    }
}
