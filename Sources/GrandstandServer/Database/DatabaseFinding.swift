internal import Grandstand
internal import Postgres

extension DatabaseFinding {
    /// What an error tells about the database. `nil`: nothing, because it concerns the statement, the caller or this
    /// process.
    init?(_ error: PostgresError) {
        let known = error.sqlState.flatMap { DatabaseTrouble(sqlState: $0.rawValue) }
        let trouble: DatabaseTrouble? =
            switch error.kind {
            case .server: known
            case .connectionFailed: known ?? DatabaseTrouble(connectionError: error.message)
            case .connectionLost: known ?? .unreachable
            // The server may only have waited for a standby's confirmation.
            case .timedOut: known ?? (error.isUnreplicated ? .standbyAway : .slow)
            case .cancelled, .poolClosed, .poolExhausted, .decoding, .misuse: nil
            }
        guard let trouble else { return nil }
        self.init(trouble, cause: "\(error)")
    }
}
