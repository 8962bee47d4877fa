/// The kinds of trouble with the database. Each needs a different action of the operator. Readiness, log, metric,
/// alert, `doctor` and the text of a 503 use the same words.
package enum DatabaseTrouble: String, Sendable, Hashable, CaseIterable {
    /// There is no connection: PostgreSQL does not run at the configured address, or the network is broken.
    case unreachable
    /// PostgreSQL refuses the user, the password or the database, or the user lacks a grant.
    case accessRefused = "access-refused"
    /// PostgreSQL has no free connection for this process.
    case tooFewConnections = "too-few-connections"
    case diskFull = "disk-full"
    /// PostgreSQL is out of memory, or cannot read its disk.
    case serverFault = "server-fault"
    /// PostgreSQL accepts no writes: it is a standby, or it was set read-only.
    case readOnly = "read-only"
    /// PostgreSQL commits, but no synchronous standby confirms.
    case standbyAway = "standby-away"
    /// There is a connection, but no answer in time.
    case slow
    /// This binary cannot work with the schema of the database.
    case schema
    /// The clocks of this machine and the database differ so much that this replica may claim no work.
    case clockOff = "clock-off"

    /// How a statement, or an attempt to connect, failed.
    package enum Failure: Sendable, Hashable {
        /// The server refused the statement or the connection. The refusal has an SQLSTATE.
        case refused
        /// No connection could be made. libpq gives a text for this but no code.
        case connecting
        /// The connection broke while it was in use.
        case lost
        case timedOut
        /// The timeout passed while the server only waited for a standby's confirmation.
        case unconfirmed
    }

    /// - Parameters:
    ///   - sqlState: the server's code, if it gave one.
    ///   - message: the text from the server or libpq. Only texts of failed connections are examined. If the server is
    ///     configured to write them in another language than English, the trouble is `unreachable`.
    /// - Returns: `nil` if the error concerns the statement and not the database.
    package init?(_ failure: Failure, sqlState: String?, message: String) {
        if let sqlState, let trouble = Self.bySQLState(sqlState) {
            self = trouble
            return
        }
        switch failure {
        case .refused: return nil
        case .connecting:
            self = Self.byWords.first { $0.words.contains(where: message.contains) }?.trouble ?? .unreachable
        case .lost: self = .unreachable
        case .timedOut: self = .slow
        case .unconfirmed: self = .standbyAway
        }
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

    /// With several hosts, the message has the errors of all hosts. If the message has texts of several troubles, the
    /// first of these troubles in this list counts.
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

    /// One sentence that describes the trouble. It contains no host and no user, so anybody may read it.
    package var finding: String {
        switch self {
        case .unreachable: "The database did not answer."
        case .accessRefused:
            "The database refuses this server's user, password or database name, or a grant is missing."
        case .tooFewConnections: "The database has no connection left for this process."
        case .diskFull: "The database's disk is full."
        case .serverFault: "The database server has no memory left or cannot read its disk."
        case .readOnly: "The database accepts no writes now: it is a standby, or was set to read-only."
        case .standbyAway: "The database waits for a synchronous standby that does not confirm commits."
        case .slow: "The database took too long."
        case .schema: "The database's schema is not one that this server can use."
        case .clockOff: "This machine's clock differs from the database's too much: nothing is sent from here."
        }
    }

    /// What to do, in one or two sentences.
    package var advice: String {
        switch self {
        case .unreachable:
            "Start PostgreSQL, or repair the network to it (`grandstand doctor` shows which), then try again."
        case .accessRefused:
            "Correct user and password in DATABASE_URL, or let the user in (pg_hba.conf, GRANT); this server's log has "
                + "PostgreSQL's message."
        case .tooFewConnections:
            "Raise PostgreSQL's max_connections, or lower GRANDSTAND_DATABASE_CONNECTIONS of each process, then "
                + "try again."
        case .diskFull:
            "Free or add space where PostgreSQL keeps its data, then try again. The server resumes by itself."
        case .serverFault: "PostgreSQL's log shows whether it is the memory or the disk. Try again when it is repaired."
        case .readOnly:
            "Promote the standby or make the database writable, or set DATABASE_URL to a primary, then try again."
        case .standbyAway:
            "Start the standby again, or remove it from synchronous_standby_names on the primary. Then try again; "
                + "repeat a POST with the same Idempotency-Key."
        case .slow:
            "The database's pg_stat_activity shows what it waits for: a lock, or its disk. Then try again; repeat a "
                + "POST with the same Idempotency-Key."
        case .schema: "Run `grandstand migrate` with this version, or start the version that fits the database."
        case .clockOff: "Set both machines' clocks by NTP. Accepted messages are then sent by themselves."
        }
    }

    /// Seconds after which a request may succeed.
    package var retryAfter: Int {
        switch self {
        case .diskFull, .serverFault, .accessRefused, .schema, .clockOff: 10
        case .readOnly, .standbyAway, .tooFewConnections: 2
        case .unreachable, .slow: 1
        }
    }

    /// Whether the database can do no work at all.
    package var preventsAllWork: Bool {
        switch self {
        case .unreachable, .accessRefused, .tooFewConnections: true
        case .diskFull, .serverFault, .readOnly, .standbyAway, .slow, .schema, .clockOff: false
        }
    }

    /// Whether all writing requests fail if some of them report this trouble. If a trouble affects only new
    /// connections, requests on open ones still work.
    package var stopsWrites: Bool {
        switch self {
        case .diskFull, .serverFault, .readOnly, .standbyAway, .schema, .clockOff: true
        case .unreachable, .accessRefused, .tooFewConnections, .slow: false
        }
    }
}

/// A problem of the database, and when it was found.
package struct DatabaseFinding: Sendable, Hashable {
    package var trouble: DatabaseTrouble
    /// What is wrong and what to do. It contains no host and no user.
    package var detail: String
    /// The original text from PostgreSQL or libpq, for the log and `doctor`; `nil`: there is none.
    package var cause: String?

    package init(_ trouble: DatabaseTrouble, detail: String? = nil, cause: String? = nil) {
        self.trouble = trouble
        self.detail = detail ?? "\(trouble.finding) \(trouble.advice)"
        self.cause = cause
    }
}

extension Problem {
    /// The error for a database that cannot work now. It contains no text from the database, because that may include
    /// row data.
    ///
    /// - Parameter isUnknown: whether the database may have changed something.
    package static func unavailable(_ trouble: DatabaseTrouble, isUnknown: Bool) -> Problem {
        let outcome =
            isUnknown
            ? "Whether anything was changed is not known." : "Nothing was changed, unless a later GET shows it."
        var problem = Problem(
            .storeUnavailable, "\(trouble.finding) \(outcome) \(trouble.advice)", retryAfter: trouble.retryAfter)
        problem.trouble = trouble
        return problem
    }
}
