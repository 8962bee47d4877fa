/// A Swift value that can be a parameter of one Postgres type. `encode` appends the value in binary format.
package protocol PostgresEncodable: Sendable {
    static var postgresType: PostgresType { get }
    func encode(into bytes: inout [UInt8])
}

/// A Swift value that can be decoded from a column in binary format.
///
/// Other modules use a type only through these requirements, whose default implementations are compiled separately for
/// each type. A generic function that creates the `Optional<Value>` itself asks the runtime for this type at each call;
/// that took a tenth of the server's time in a burst.
package protocol PostgresDecodable: Sendable {
    /// - Parameter type: the column's type OID.
    /// - Throws: `PostgresError` of kind `decoding` if the type or the bytes do not fit.
    init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError)

    /// Decodes a column; `bytes` is `nil` for NULL. NULL is an error unless the type has a value for it.
    static func value(column bytes: UnsafeRawBufferPointer?, type: UInt32) throws(PostgresError) -> Self

    /// Decodes a column, with `nil` for NULL.
    static func optional(column bytes: UnsafeRawBufferPointer?, type: UInt32) throws(PostgresError) -> Self?
}

extension PostgresDecodable {
    package static func value(
        column bytes: UnsafeRawBufferPointer?, type: UInt32
    ) throws(PostgresError) -> Self {
        guard let bytes else { throw PostgresError(.decoding, "NULL cannot be read as \(Self.self)") }
        return try Self(decoding: bytes, type: type)
    }

    package static func optional(
        column bytes: UnsafeRawBufferPointer?, type: UInt32
    ) throws(PostgresError) -> Self? {
        guard let bytes else { return nil }
        return try Self(decoding: bytes, type: type)
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    package init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) {
        self = .some(try Wrapped(decoding: bytes, type: type))
    }

    package static func value(
        column bytes: UnsafeRawBufferPointer?, type: UInt32
    ) throws(PostgresError) -> Self {
        try Wrapped.optional(column: bytes, type: type)
    }
}
