package import GrandstandContract

/// The kinds of trouble with the database. Each needs a different action of the operator. Readiness, log, metric,
/// alert, `doctor` and the text of a 503 use the same words.
package typealias DatabaseTrouble = Contract.DatabaseTrouble

extension DatabaseTrouble {
    /// One sentence that describes the trouble. It contains no host and no user, so anybody may read it.
    package var finding: String {
        switch self {
        case .unreachable, .unknown: "The database did not answer."
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
        case .unreachable, .unknown:
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
        case .unreachable, .slow, .unknown: 1
        }
    }

    /// Whether the database can do no work at all.
    package var preventsAllWork: Bool {
        switch self {
        case .unreachable, .accessRefused, .tooFewConnections: true
        case .diskFull, .serverFault, .readOnly, .standbyAway, .slow, .schema, .clockOff, .unknown: false
        }
    }

    /// Whether all writing requests fail if some of them report this trouble. If a trouble affects only new
    /// connections, requests on open ones still work.
    package var stopsWrites: Bool {
        switch self {
        case .diskFull, .serverFault, .readOnly, .standbyAway, .schema, .clockOff: true
        case .unreachable, .accessRefused, .tooFewConnections, .slow, .unknown: false
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
