package import FoundationEssentials

/// Elements of a Swift array that is one parameter. Bytes make a `bytea`; other elements make a one-dimensional
/// Postgres array.
package protocol PostgresArrayElement: Sendable {
    static var arrayType: PostgresType { get }
    static func encode(_ array: [Self], into bytes: inout [UInt8])
    static func decodeArray(_ bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) -> [Self]
}

extension UInt8: PostgresArrayElement {
    package static var arrayType: PostgresType { .bytea }
    package static func encode(_ array: [UInt8], into bytes: inout [UInt8]) { bytes += array }
    package static func decodeArray(
        _ bytes: UnsafeRawBufferPointer, type: UInt32
    ) throws(PostgresError) -> [UInt8] {
        guard type == PostgresType.bytea.oid else { throw .decoding([UInt8].self, type) }
        return Array(bytes)
    }
}

/// Elements of a Postgres array: scalars, or optionals of them if there may be NULLs.
package protocol PostgresScalarElement: PostgresArrayElement, PostgresEncodable, PostgresDecodable {
    /// This function is a protocol requirement, so that its default implementation is compiled separately for each
    /// type. That is faster: a generic function asks the runtime for the optional type each time.
    static func encodeOptionals(_ array: [Self?], into bytes: inout [UInt8])
}

extension PostgresScalarElement {
    package static var arrayType: PostgresType {
        PostgresType(oid: postgresType.arrayOID, arrayOID: postgresType.arrayOID)
    }

    package static func encode(_ array: [Self], into bytes: inout [UInt8]) {
        PostgresArrayFormat.encode(array.lazy.map(Optional.some), into: &bytes)
    }

    package static func encodeOptionals(_ array: [Self?], into bytes: inout [UInt8]) {
        PostgresArrayFormat.encode(array, into: &bytes)
    }

    package static func decodeArray(_ bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) -> [Self] {
        try PostgresArrayFormat.decode(bytes, type: type)
    }
}

extension Bool: PostgresScalarElement {}
extension Int: PostgresScalarElement {}
extension Int32: PostgresScalarElement {}
extension Double: PostgresScalarElement {}
extension String: PostgresScalarElement {}
extension UUID: PostgresScalarElement {}
extension Date: PostgresScalarElement {}
extension PostgresJSON: PostgresScalarElement {}
/// A `bytea` in an array.
extension Array: PostgresArrayElement, PostgresScalarElement where Element == UInt8 {}

extension Optional: PostgresArrayElement where Wrapped: PostgresScalarElement {
    package static var arrayType: PostgresType { Wrapped.arrayType }

    package static func encode(_ array: [Wrapped?], into bytes: inout [UInt8]) {
        Wrapped.encodeOptionals(array, into: &bytes)
    }

    package static func decodeArray(
        _ bytes: UnsafeRawBufferPointer, type: UInt32
    ) throws(PostgresError) -> [Wrapped?] {
        try PostgresArrayFormat.decode(bytes, type: type)
    }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
    package init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) {
        self = try Element.decodeArray(bytes, type: type)
    }
}

/// The binary format of one-dimensional arrays (array_send, array_recv).
enum PostgresArrayFormat {
    static func encode<Element: PostgresEncodable>(_ array: some Collection<Element?>, into bytes: inout [UInt8]) {
        Int32(array.isEmpty ? 0 : 1).append(to: &bytes)
        Int32(1).append(to: &bytes)
        Element.postgresType.oid.append(to: &bytes)
        if array.isEmpty { return }
        Int32(array.count).append(to: &bytes)
        Int32(1).append(to: &bytes)
        bytes.reserveCapacity(bytes.count + array.count * (MemoryLayout<Int32>.size + MemoryLayout<Element>.size))
        for element in array {
            guard let element else {
                Int32(-1).append(to: &bytes)
                continue
            }
            let start = bytes.count
            Int32(0).append(to: &bytes)
            element.encode(into: &bytes)
            let length = Int32(bytes.count - start - MemoryLayout<Int32>.size).bigEndian
            bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: start, as: Int32.self) }
        }
    }

    static func decode<Element: PostgresDecodable>(
        _ bytes: UnsafeRawBufferPointer, type: UInt32
    ) throws(PostgresError) -> [Element] {
        var reader = Reader(bytes)
        guard let dimensions = reader.int32(), reader.int32() != nil, let elementType = reader.int32() else {
            throw .decoding([Element].self, type)
        }
        if dimensions == 0 { return [] }
        guard dimensions == 1, let count = reader.int32(), reader.int32() != nil, count >= 0 else {
            throw .decoding([Element].self, type)
        }
        var elements: [Element] = []
        for _ in 0..<count {
            guard let length = reader.int32() else { throw .decoding([Element].self, type) }
            let slice = length < 0 ? nil : reader.take(Int(length))
            guard length < 0 || slice != nil else { throw .decoding([Element].self, type) }
            elements.append(try Element.value(column: slice, type: UInt32(bitPattern: elementType)))
        }
        return elements
    }

    private struct Reader {
        private var rest: UnsafeRawBufferPointer

        init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

        mutating func int32() -> Int32? { take(4).flatMap { Int32(bigEndian: $0) } }

        mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
            guard rest.count >= count else { return nil }
            defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count)) }
            return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        }
    }
}
