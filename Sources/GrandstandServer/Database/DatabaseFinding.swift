internal import Grandstand
internal import Postgres

extension DatabaseFinding {
    /// What an error tells about the database. `nil`: nothing, because it concerns the statement, the caller or this
    /// process.
    init?(_ error: PostgresError) {
        let known = error.sqlState.flatMap { Self.bySQLState($0.rawValue) }
        let trouble: DatabaseTrouble? =
            switch error.kind {
            case .server: known
            case .connectionFailed:
                known ?? Self.byWords.first { $0.words.contains(where: error.message.contains) }?.trouble
                    ?? .unreachable
            case .connectionLost: known ?? .unreachable
            // The server may only have waited for a standby's confirmation.
            case .timedOut: known ?? (error.isUnconfirmed ? .standbyAway : .slow)
            case .cancelled, .poolClosed, .poolExhausted, .decoding, .misuse: nil
            }
        guard let trouble else { return nil }
        self.init(trouble, cause: "\(error)")
    }

    private static func bySQLState(_ state: String) -> DatabaseTrouble? {
        switch state {
        case "53100": .diskFull
        case "53200": .serverFault
        case "53300": .tooFewConnections
        case "25006": .readOnly
        // Invalid authorization, invalid password, no such database, insufficient privilege.
        case "28000", "28P01", "3D000", "42501": .accessRefused
        // No such schema, table, column or function.
        case "3F000", "42P01", "42703", "42883": .schema
        // The server shuts down, crashed, or is starting.
        case "57P01", "57P02", "57P03": .unreachable
        case _ where state.hasPrefix("58"): .serverFault
        default: nil
        }
    }

    /// Texts of libpq, which gives no code for a failed connection. If the server is configured to write them in another
    /// language than English, the trouble is `unreachable`. With several hosts, the message has the errors of all hosts.
    /// If it has texts of several troubles, the first of these troubles in this list counts.
    private static let byWords: [(trouble: DatabaseTrouble, words: [String])] = [
        (.diskFull, ["No space left on device"]),
        (
            .tooFewConnections,
            [
                "too many clients", "too many connections", "remaining connection slots", "connection limit exceeded",
                "no more connections allowed",
            ]
        ),
        (
            .accessRefused,
            [
                "authentication failed", "no password supplied", "no pg_hba.conf entry", "is not permitted to log in",
                "permission denied for database",
                // These texts are about a role or a database. The words `does not exist` would also match a message
                // about a missing file on this machine.
                #"FATAL:  role ""#, #"FATAL:  database ""#,
            ]
        ),
        (.readOnly, ["session is read-only"]),
    ]
}
