internal import CNghttp2

extension Session {
    /// Why a request or an answer cannot be sent.
    struct Unsendable: Error {
        var reason: String
    }

    /// Passes the fields of a request or an answer to nghttp2, which copies them.
    ///
    /// - Parameters:
    ///   - pseudo: the fields whose names begin with a colon.
    ///   - submit: one of nghttp2's functions. It returns a negative number for an error.
    func submit(
        pseudo: [HTTP2Header], _ headers: [HTTP2Header], hasBody: Bool,
        by submit: (UnsafePointer<nghttp2_nv>?, Int, UnsafePointer<nghttp2_data_provider>?) -> Int32
    ) throws(Unsendable) -> Int32 {
        let invalid = pseudo.first { !$0.hasValidValue } ?? headers.first { !$0.hasValidName || !$0.hasValidValue }
        if let invalid { throw Unsendable(reason: "the field \(invalid.name) has a byte that HTTP forbids") }
        let fields = pseudo + headers
        var bytes: [UInt8] = []
        for field in fields {
            bytes += field.name.utf8
            bytes += field.value.utf8
        }
        let status = bytes.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            let pairs = fields.map { field in
                let (name, value) = (next, next.map { $0 + field.name.utf8.count })
                next = value.map { $0 + field.value.utf8.count }
                let flags = field.indexing == .never ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                return nghttp2_nv(
                    name: name, value: value, namelen: field.name.utf8.count, valuelen: field.value.utf8.count,
                    flags: UInt8(truncatingIfNeeded: flags.rawValue))
            }
            let body = nghttp2_data_provider(source: nghttp2_data_source(), read_callback: SessionCallbacks.readBody)
            return withUnsafePointer(to: body) { submit(pairs, pairs.count, hasBody ? $0 : nil) }
        }
        if status < 0 { throw Unsendable(reason: Self.text(Int(status))) }
        return status
    }
}

extension HTTP2Header {
    /// Whether HTTP allows the name (RFC 9113 8.2.1). The peer would treat the request as malformed, and some peers close
    /// the whole connection.
    fileprivate var hasValidName: Bool {
        var name = name
        // nghttp2's check accepts a leading colon, but callers must not add pseudo fields.
        return !name.hasPrefix(":") && name.withUTF8 { nghttp2_check_header_name($0.baseAddress, $0.count) } != 0
    }

    fileprivate var hasValidValue: Bool {
        var value = value
        return value.withUTF8 { nghttp2_check_header_value($0.baseAddress, $0.count) } != 0
    }
}
