package import GrandstandContract

/// The kinds of trouble with the database. Each needs a different action of the operator. Readiness, log, metric,
/// alert, `doctor` and the text of a 503 use the same words.
package typealias DatabaseTrouble = Contract.DatabaseTrouble

extension DatabaseTrouble {
    /// What a trouble keeps the database from doing.
    private enum Effect {
        case allWork
        /// All writing requests fail if some of them report the trouble.
        case writes
        /// Some requests fail. Those on open connections may still succeed.
        case some
    }

    /// What is wrong, what to do, seconds after which a request may succeed, and what fails until then.
    private var facts: (finding: String, advice: String, retryAfter: Int, stops: Effect) {
        switch self {
        case .unreachable, .unknown:
            (
                "The database did not answer.",
                "Start PostgreSQL, or repair the network to it (`grandstand doctor` shows which), then try again.",
                1, self == .unreachable ? .allWork : .some
            )
        case .accessRefused:
            (
                "The database refuses this server's user, password or database name, or a grant is missing.",
                "Correct user and password in DATABASE_URL, or let the user in (pg_hba.conf, GRANT); this server's log "
                    + "has PostgreSQL's message.", 10, .allWork
            )
        case .tooFewConnections:
            (
                "The database has no connection left for this process.",
                "Raise PostgreSQL's max_connections, or lower GRANDSTAND_DATABASE_CONNECTIONS of each process, then "
                    + "try again.", 2, .allWork
            )
        case .diskFull:
            (
                "The database's disk is full.",
                "Free or add space where PostgreSQL keeps its data, then try again. The server resumes by itself.",
                10, .writes
            )
        case .serverFault:
            (
                "The database server has no memory left or cannot read its disk.",
                "PostgreSQL's log shows whether it is the memory or the disk. Try again when it is repaired.",
                10, .writes
            )
        case .readOnly:
            (
                "The database accepts no writes now: it is a standby, or was set to read-only.",
                "Promote the standby or make the database writable, or set DATABASE_URL to a primary, then try again.",
                2, .writes
            )
        case .standbyAway:
            (
                "The database waits for a synchronous standby that does not confirm commits.",
                "Start the standby again, or remove it from synchronous_standby_names on the primary. Then try again; "
                    + "repeat a POST with the same Idempotency-Key.", 2, .writes
            )
        case .slow:
            (
                "The database took too long.",
                "The database's pg_stat_activity shows what it waits for: a lock, or its disk. Then try again; repeat a "
                    + "POST with the same Idempotency-Key.", 1, .some
            )
        case .schema:
            (
                "The database's schema is not one that this server can use.",
                "Run `grandstand migrate` with this version, or start the version that fits the database.", 10, .writes
            )
        case .clockOff:
            (
                "This machine's clock differs from the database's too much: nothing is sent from here.",
                "Set both machines' clocks by NTP. Accepted messages are then sent by themselves.", 10, .writes
            )
        }
    }

    /// One sentence that describes the trouble. It contains no host and no user, so anybody may read it.
    package var finding: String { facts.finding }

    /// What to do, in one or two sentences.
    package var advice: String { facts.advice }

    /// Seconds after which a request may succeed.
    package var retryAfter: Int { facts.retryAfter }

    /// Whether the database can do no work at all.
    package var preventsAllWork: Bool { facts.stops == .allWork }

    /// Whether all writing requests fail if some of them report this trouble. If a trouble affects only new
    /// connections, requests on open ones still work.
    package var stopsWrites: Bool { facts.stops == .writes }

    /// The trouble that an SQLSTATE of PostgreSQL shows; `nil`: it concerns a statement and not the database.
    package init?(sqlState state: String) {
        switch state {
        case "53100": self = .diskFull
        case "53200": self = .serverFault
        case "53300": self = .tooFewConnections
        case "25006": self = .readOnly
        // Invalid authorization, invalid password, no such database, insufficient privilege.
        case "28000", "28P01", "3D000", "42501": self = .accessRefused
        // No such schema, table, column or function.
        case "3F000", "42P01", "42703", "42883": self = .schema
        // The server shuts down, crashed, or is starting.
        case "57P01", "57P02", "57P03": self = .unreachable
        case _ where state.hasPrefix("58"): self = .serverFault
        default: return nil
        }
    }

    /// The trouble because of which a connection failed, by the text of libpq.
    package init(connectionError text: String) {
        self = Self.byWords.first { $0.words.contains(where: text.contains) }?.trouble ?? .unreachable
    }

    /// Texts of libpq, which gives no code for a failed connection. If the server is configured to write them in another
    /// language than English, the trouble is `unreachable`. With several hosts, the message has the errors of all hosts.
    /// If it has texts of several troubles, the first of these troubles in this list counts.
    private static let byWords: [(trouble: Self, words: [String])] = [
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
