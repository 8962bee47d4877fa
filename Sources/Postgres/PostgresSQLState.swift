/// A five-character SQLSTATE (PostgreSQL, Appendix A).
package struct PostgresSQLState: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let warning = Self(rawValue: "01000")
    package static let uniqueViolation = Self(rawValue: "23505")
    package static let readOnlySQLTransaction = Self(rawValue: "25006")
    package static let invalidSQLStatementName = Self(rawValue: "26000")
    package static let serializationFailure = Self(rawValue: "40001")
    package static let deadlockDetected = Self(rawValue: "40P01")
    package static let duplicatePreparedStatement = Self(rawValue: "42P05")
    package static let lockNotAvailable = Self(rawValue: "55P03")
    package static let adminShutdown = Self(rawValue: "57P01")
    package static let crashShutdown = Self(rawValue: "57P02")
}
