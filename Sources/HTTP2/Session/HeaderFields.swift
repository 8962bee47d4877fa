internal import CNghttp2

/// Prepares a header block for nghttp2, in memory that is reused for every block.
///
/// nghttp2 copies the fields when it accepts a request or an answer, so one scratch array is enough and no field needs
/// an allocation.
struct HeaderFields {
    /// A name or value with a byte that HTTP forbids (RFC 9113 8.2.1). The peer would treat the request as malformed,
    /// and some peers close the whole connection.
    struct Invalid: Error {
        var name: String
    }

    private var bytes: [UInt8] = []
    private var lengths: [(name: Int, value: Int, flags: UInt8)] = []
    private var pairs: [nghttp2_nv] = []

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
    }

    /// Replaces the block with a request's fields. One call adds all fields, because each mutation from outside costs a
    /// check of exclusive access.
    mutating func fill(_ request: HTTP2Request) throws(Invalid) {
        removeAll()
        try add(pseudo: ":method", request.method)
        try add(pseudo: ":scheme", "https")
        try add(pseudo: ":authority", request.authority)
        // nghttp2 never indexes :path by default. Apple recommends the same (docs/internals/apns.md 6).
        try add(pseudo: ":path", request.path)
        for header in request.headers { try add(header) }
    }

    /// Adds a pseudo field. Pseudo fields must be added first.
    mutating func add(pseudo name: StaticString, _ value: String, flags: nghttp2_nv_flag = NGHTTP2_NV_FLAG_NONE)
        throws(Invalid)
    {
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        try finish(nameLength: name.utf8CodeUnitCount, value, flags: flags)
    }

    mutating func add(_ header: HTTP2Header) throws(Invalid) {
        let start = bytes.count
        append(header.name)
        let length = bytes.count - start
        let isValid = bytes.withUnsafeBufferPointer { buffer in
            // nghttp2's check accepts a leading colon, but callers must not add pseudo fields.
            buffer.count > start && buffer[start] != UInt8(ascii: ":")
                && nghttp2_check_header_name(buffer.baseAddress.map { $0 + start }, length) != 0
        }
        guard isValid else { throw Invalid(name: header.name) }
        try finish(
            nameLength: length, header.value,
            flags: header.indexing == .never ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE)
    }

    private mutating func finish(nameLength: Int, _ value: String, flags: nghttp2_nv_flag) throws(Invalid) {
        let start = bytes.count
        append(value)
        let length = bytes.count - start
        let isValid = bytes.withUnsafeBufferPointer { buffer in
            nghttp2_check_header_value(buffer.baseAddress.map { $0 + start }, length) != 0
        }
        guard isValid else {
            throw Invalid(name: String(decoding: bytes[(start - nameLength)..<start], as: UTF8.self))
        }
        lengths.append((nameLength, length, UInt8(truncatingIfNeeded: flags.rawValue)))
    }

    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// The block in nghttp2's form; it is valid only inside `body`.
    mutating func withPairs<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        pairs.removeAll(keepingCapacity: true)
        return bytes.withUnsafeMutableBufferPointer { buffer in
            var offset = buffer.baseAddress
            for (nameLength, valueLength, flags) in lengths {
                let value = offset.map { $0 + nameLength }
                pairs.append(
                    nghttp2_nv(name: offset, value: value, namelen: nameLength, valuelen: valueLength, flags: flags))
                offset = value.map { $0 + valueLength }
            }
            return pairs.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
        }
    }
}
