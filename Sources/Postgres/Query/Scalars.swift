package import FoundationEssentials

// The binary formats of the scalar types (src/backend/utils/adt/*send, *recv): integers are in network byte order,
// times are microseconds since 2000-01-01.

extension FixedWidthInteger {
    func append(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Reads the first bytes in network byte order; `nil` if there are too few.
    init?(bigEndian bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= MemoryLayout<Self>.size else { return nil }
        self = Self(bigEndian: bytes.loadUnaligned(as: Self.self))
    }
}

/// Integers, in one of Postgres' three types of integers.
package protocol PostgresInteger: FixedWidthInteger, PostgresEncodable, PostgresDecodable {}

extension PostgresInteger {
    package func encode(into bytes: inout [UInt8]) { append(to: &bytes) }

    /// Reads any of the three types, if the value fits.
    package init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) {
        let value: Int64? =
            switch type {
            case PostgresType.int2.oid: Int16(bigEndian: bytes).map(Int64.init)
            case PostgresType.int4.oid: Int32(bigEndian: bytes).map(Int64.init)
            case PostgresType.int8.oid: Int64(bigEndian: bytes)
            default: nil
            }
        guard let value, let exact = Self(exactly: value) else { throw .decoding(Self.self, type) }
        self = exact
    }
}

extension Int: PostgresInteger { package static var postgresType: PostgresType { .int8 } }
extension Int32: PostgresInteger { package static var postgresType: PostgresType { .int4 } }

extension Bool: PostgresEncodable, PostgresDecodable {
    package static var postgresType: PostgresType { .bool }
    package func encode(into bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
    package init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) {
        guard type == PostgresType.bool.oid, bytes.count == 1 else { throw .decoding(Self.self, type) }
        self = bytes[0] != 0
    }
}

extension Double: PostgresEncodable, PostgresDecodable {
    package static var postgresType: PostgresType { .float8 }
    package func encode(into bytes: inout [UInt8]) { bitPattern.append(to: &bytes) }
    package init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) {
        guard type == PostgresType.float8.oid, let bits = UInt64(bigEndian: bytes) else {
            throw .decoding(Self.self, type)
        }
        self.init(bitPattern: bits)
    }
}

/// Text, names, enums, and all other types whose binary format is their text. The server refuses NUL.
extension String: PostgresEncodable, PostgresDecodable {
    package static var postgresType: PostgresType { .text }
    package func encode(into bytes: inout [UInt8]) { bytes += utf8 }
    package init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) {
        switch type {
        // Types whose binary format is not text.
        case 16, 17, 20, 21, 23, 26, 700, 701, 1082, 1114, 1184, 1186, 1700, 2950: throw .decoding(Self.self, type)
        case PostgresType.jsonbOID: self = String(decoding: bytes.dropFirst(), as: UTF8.self)
        default: self = String(decoding: bytes, as: UTF8.self)
        }
    }
}

/// A `bytea`, or a Postgres array (`PostgresArrayElement`).
extension Array: PostgresEncodable where Element: PostgresArrayElement {
    package static var postgresType: PostgresType { Element.arrayType }
    package func encode(into bytes: inout [UInt8]) { Element.encode(self, into: &bytes) }
}

extension UUID: PostgresEncodable, PostgresDecodable {
    package static var postgresType: PostgresType { .uuid }
    package func encode(into bytes: inout [UInt8]) { withUnsafeBytes(of: uuid) { bytes += $0 } }
    package init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) {
        guard type == PostgresType.uuid.oid, bytes.count == 16 else { throw .decoding(Self.self, type) }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}

/// `timestamptz`, to the microsecond. Postgres' infinite times have no Date; reading one is an error.
extension Date: PostgresEncodable, PostgresDecodable {
    package static var postgresType: PostgresType { .timestamptz }
    /// Seconds from 1970-01-01 to 2000-01-01, Postgres' epoch.
    private static let epoch2000 = 946_684_800.0

    package func encode(into bytes: inout [UInt8]) {
        let microseconds = ((timeIntervalSince1970 - Self.epoch2000) * 1_000_000).rounded()
        // A date whose microseconds do not fit into 64 bits becomes infinite.
        let value = Int64(exactly: microseconds) ?? (microseconds < 0 ? .min : .max)
        value.append(to: &bytes)
    }

    /// The date with the precision of a column. Use it to compare a date with one that was read.
    package var asStored: Date {
        let microseconds = ((timeIntervalSince1970 - Self.epoch2000) * 1_000_000).rounded()
        return Date(timeIntervalSince1970: microseconds / 1_000_000 + Self.epoch2000)
    }

    package init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) {
        guard type == PostgresType.timestamptz.oid, let value = Int64(bigEndian: bytes), value != .min, value != .max
        else { throw .decoding(Self.self, type) }
        self.init(timeIntervalSince1970: Double(value) / 1_000_000 + Self.epoch2000)
    }
}

/// The text of a `json` column, byte for byte.
package struct PostgresJSON: Sendable, Hashable, PostgresEncodable, PostgresDecodable {
    package var bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package static var postgresType: PostgresType { .json }
    package func encode(into bytes: inout [UInt8]) { bytes += self.bytes }
    package init(decoding bytes: UnsafeRawBufferPointer, type: UInt32) throws(PostgresError) {
        switch type {
        case PostgresType.json.oid, PostgresType.text.oid: self.bytes = Array(bytes)
        // jsonb's binary format begins with a version byte.
        case PostgresType.jsonbOID: self.bytes = Array(bytes.dropFirst())
        default: throw .decoding(Self.self, type)
        }
    }
}
