/// A Swift value with one Postgres type. `encode` appends the type's binary format.
package protocol PostgresEncodable: Sendable {
    static var postgresType: PostgresType { get }
    func encode(into bytes: inout [UInt8])
}

/// A Swift value that can be read off a column in binary format.
package protocol PostgresDecodable: Sendable {
    /// - Parameter type: the column's type OID.
    /// - Throws: `PostgresError` of kind `decoding` for a type or bytes that do not fit.
    init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError)

    /// The value of NULL, for types that have one.
    static var null: Self? { get }
}

extension PostgresDecodable {
    package static var null: Self? { nil }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    package init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) {
        self = .some(try Wrapped(decoding: bytes, type: type))
    }

    package static var null: Self? { .some(nil) }
}
