internal import APNsClient
internal import APNsWire
internal import GrandstandAPI
internal import GrandstandStore
internal import Postgres

extension Readiness {
    /// Looks at the database now, and at what is known of APNs.
    init(of database: DatabaseSession, _ gateway: APNsClient) async {
        let fault = await Self.fault(of: database)
        let apns = APNsEnvironment.allCases.map { ($0, APNsState(gateway.reachability(of: $0))) }
        self.init(database: fault == nil, detail: fault, apns: Dictionary(uniqueKeysWithValues: apns))
    }

    /// What stands in the way of using the database; `nil`: nothing.
    private static func fault(of database: DatabaseSession) async -> String? {
        do {
            switch try await Migrator(database.pool).status() {
            case .current: return nil
            case .behind(let names): return "migrations are missing: \(names)"
            case .ahead(let version): return "the database has migration \(version), newer than this binary"
            case .changed(let name): return "migration \(name) was changed"
            }
        } catch {
            return "the database does not answer"
        }
    }
}

extension Readiness.APNsState {
    fileprivate init(_ reachability: APNsReachability) {
        switch reachability {
        case .unknown: self.init(Word.unknown)
        case .reachable: self.init(Word.reachable)
        case .unreachable(let reason): self.init(Word.unreachable, reason: reason)
        }
    }
}
