/// Header fields as received, in one array. Strings are made only for the fields that are read, because making all of
/// them takes a tenth of a request's processor time.
struct FieldBlock: Sendable, Hashable {
    /// For each field: the lengths of name and value, four bytes each, then name and value.
    private var bytes: [UInt8] = []

    init() {}

    init(_ headers: [HTTP2Header]) {
        for header in headers {
            var (name, value) = (header.name, header.value)
            name.withUTF8 { name in value.withUTF8 { value in append(name: name, value: value) } }
        }
    }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Adds a field at the end. Name and value must be shorter than 4 GiB, which the limits on header lists guarantee.
    mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        if bytes.capacity == 0 { bytes.reserveCapacity(256) }
        // Build the field first, because one append to the array is faster than three.
        withUnsafeTemporaryAllocation(byteCount: 8 + name.count + value.count, alignment: 4) { field in
            field.storeBytes(of: UInt32(truncatingIfNeeded: name.count), as: UInt32.self)
            field.storeBytes(of: UInt32(truncatingIfNeeded: value.count), toByteOffset: 4, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: field[8...]).copyBytes(from: name)
            UnsafeMutableRawBufferPointer(rebasing: field[(8 + name.count)...]).copyBytes(from: value)
            bytes.append(contentsOf: field)
        }
    }

    /// The value of the first field with this name.
    func first(named name: String) -> String? {
        var name = name
        return name.withUTF8 { wanted in
            var found: String?
            forEach { name, value in
                guard name.elementsEqual(wanted) else { return true }
                found = String(decoding: value, as: UTF8.self)
                return false
            }
            return found
        }
    }

    /// All fields in order.
    var headers: [HTTP2Header] {
        var headers: [HTTP2Header] = []
        forEach { name, value in
            headers.append(HTTP2Header(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
            return true
        }
        return headers
    }

    /// - Parameter body: returns whether to continue.
    private func forEach(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while rest.count >= 8 {
                let start = UnsafeRawBufferPointer(rebasing: rest)
                let nameLength = Int(start.loadUnaligned(as: UInt32.self))
                let valueLength = Int(start.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
                let field = start.dropFirst(8)
                let name = UnsafeRawBufferPointer(rebasing: field.prefix(nameLength))
                let value = UnsafeRawBufferPointer(rebasing: field.dropFirst(nameLength).prefix(valueLength))
                guard body(name, value) else { return }
                rest = rest.dropFirst(8 + nameLength + valueLength)
            }
        }
    }
}
