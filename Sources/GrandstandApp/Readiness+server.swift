internal import APNsClient
internal import APNsWire
internal import Grandstand
internal import GrandstandHTTP
internal import GrandstandService
internal import GrandstandStore
internal import Postgres

extension Readiness {
    /// Looks at the database now, and at what is known of APNs.
    init(of database: DatabaseSession, _ gateway: APNsClient) async {
        let fault = await Self.fault(of: database)
        self.init(database: fault == nil, detail: fault, apns: Self.apns(gateway))
    }

    /// Of a process that answers lookups alone: it can as long as memory can be believed, whatever becomes of the database.
    static func ofLookups(_ freshness: LookupReplica.Freshness) -> Readiness {
        switch freshness {
        case .confirmed: Readiness(database: true)
        case .stale(let seconds):
            Readiness(
                database: true,
                detail:
                    "lookups are \(seconds) s old: the database does not answer, or is a standby without its primary")
        case .unknown: Readiness(database: false, detail: "lookups were not read from the database, or too long ago")
        }
    }

    /// The reason for a check that takes too long.
    static func late(_ gateway: APNsClient) -> Readiness {
        Readiness(database: false, detail: unreachable, apns: Self.apns(gateway))
    }

    private static let unreachable = """
        the database does not answer, or only a server that takes no writes does (a standby); DATABASE_URL may name \
        several hosts
        """

    /// The reason why the database cannot be used; `nil`: none. One query.
    private static func fault(of database: DatabaseSession) async -> String? {
        do {
            let (status, isReadOnly) = try await database.pool.withConnection { connection in
                (try await Migrator(database.pool).status(on: connection), connection.isReadOnly)
            }
            if isReadOnly { return unreachable }
            switch status {
            case .current, .newer: return nil
            case .behind(let names):
                return "migrations are missing (\(names.joined(separator: ", "))): run grandstand migrate"
            case .refused(let refusal): return "\(refusal)"
            }
        } catch {
            return unreachable
        }
    }

    private static func apns(_ gateway: APNsClient) -> [APNsEnvironment: APNsState] {
        let apns = APNsEnvironment.allCases.map { ($0, APNsState(gateway.reachability(of: $0))) }
        return Dictionary(uniqueKeysWithValues: apns)
    }
}

extension Readiness.APNsState {
    fileprivate init(_ reachability: APNsReachability) {
        switch reachability {
        case .unknown: self.init(Word.unknown)
        case .reachable: self.init(Word.reachable)
        case .refused(let credentials, let refusal):
            self.init(Word.refused, reason: refusal.finding(of: credentials))
        case .unreachable(let reason): self.init(Word.unreachable, reason: reason)
        }
    }
}
