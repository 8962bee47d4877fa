internal import CLibPQ

/// Why the database did not execute a query.
package struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// The server refused; `sqlState` says why.
        case server
        /// No connection could be made.
        case connectionFailed
        /// The connection broke during a query, which may have been executed.
        case connectionLost
        /// The query's deadline passed, and the query was cancelled.
        case timedOut
        /// The task was cancelled, and the query with it.
        case cancelled
        case poolClosed
        /// No connection became available in time.
        case poolExhausted
        /// A column has no value of the requested type.
        case decoding
        /// The caller broke a rule of this library.
        case misuse
    }

    package var kind: Kind
    package var message: String
    package var sqlState: PostgresSQLState?
    package var detail: String?
    package var hint: String?
    /// Whether the deadline passed while the server only waited for a synchronous standby. The server itself has
    /// committed the transaction.
    package var isUnreplicated = false

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String {
        [message, detail, hint.map { "Hint: \($0)" }].compactMap(\.self).joined(separator: " ")
    }

    static func decoding(_ type: any Any.Type, _ oid: UInt32) -> PostgresError {
        PostgresError(.decoding, "a column of type \(oid) cannot be read as \(type)")
    }

    /// Reads the server's error from a failed result.
    init(result: OpaquePointer) {
        func field(_ code: UInt8) -> String? { PQresultErrorField(result, Int32(code)).map { String(cString: $0) } }
        self.init(.server, field(UInt8(ascii: "M")) ?? String(cString: PQresultErrorMessage(result)).oneLine)
        sqlState = field(UInt8(ascii: "C")).map(PostgresSQLState.init)
        detail = field(UInt8(ascii: "D"))
        hint = field(UInt8(ascii: "H"))
    }
}

extension String {
    /// libpq ends its messages with a line break; several lines are joined.
    var oneLine: String { split(whereSeparator: \.isNewline).joined(separator: "; ") }
}
