/// A Swift value with one Postgres type. `encode` appends the type's binary format.
package protocol PostgresEncodable: Sendable {
    static var postgresType: PostgresType { get }
    func encode(into bytes: inout [UInt8])
}

/// A Swift value that can be read off a column in binary format.
///
/// Callers in other modules reach a type by these requirements alone. What has a default here is compiled for each type
/// on its own: where a generic function makes an optional, the runtime is asked for `Optional<Value>` each time, a
/// tenth of what a burst cost the server.
package protocol PostgresDecodable: Sendable {
    /// - Parameter type: the column's type OID.
    /// - Throws: `PostgresError` of kind `decoding` for a type or bytes that do not fit.
    init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError)

    /// The same for a column that may be NULL (`nil`), which is an error for a type without such a value.
    static func value(column bytes: UnsafeRawBufferPointer?, type: UInt32) throws(PostgresError) -> Self

    /// The same, with `nil` for NULL.
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
