internal import CNghttp2

extension Session {
    /// Why a request or an answer cannot be sent.
    struct SubmitError: Error {
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
    ) throws(SubmitError) -> Int32 {
        let invalid = pseudo.first { !$0.hasValidValue } ?? headers.first { !$0.hasValidName || !$0.hasValidValue }
        if let invalid { throw SubmitError(reason: "the field \(invalid.name) has a byte that HTTP forbids") }
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
            let body = nghttp2_data_provider(source: nghttp2_data_source(), read_callback: SessionCallbacks.bodyToSend)
            return withUnsafePointer(to: body) { submit(pairs, pairs.count, hasBody ? $0 : nil) }
        }
        if status < 0 { throw SubmitError(reason: Self.strerror(Int(status))) }
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

/// nghttp2's callbacks: C functions without captures. Each finds its `Session` in the session's user data and passes the
/// event on.
enum SessionCallbacks {
    static func install(in callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, beginHeaders)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, header)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frameReceived)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frameSent)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, streamClosed)
        nghttp2_session_callbacks_set_error_callback2(callbacks, complained)
    }

    /// The body of a request or an answer.
    static let bodyToSend: nghttp2_data_source_read_callback = { _, stream, buffer, length, flags, _, user in
        guard let session = session(user), let flags else { return ssize_t(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
        let room = UnsafeMutableRawBufferPointer(start: buffer, count: length)
        let (count, isLast) = session.bodyToSend(stream, into: room)
        if isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }

    private static func session(_ user: UnsafeMutableRawPointer?) -> Session? {
        user.map { Unmanaged<Session>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let beginHeaders: nghttp2_on_begin_headers_callback = { _, frame, user in
        guard let session = session(user), let frame = frame?.pointee else { return 0 }
        let stream = frame.hd.stream_id
        if frame.headers.cat == NGHTTP2_HCAT_REQUEST, !session.streamOpened(stream) {
            session.reset(stream, code: HTTP2ErrorCode.refusedStream.rawValue)
        }
        session.headersBegan(stream)
        return 0
    }

    private static let header: nghttp2_on_header_callback = { _, frame, name, nameLength, value, valueLength, _, user in
        guard let session = session(user), let frame else { return 0 }
        let isAccepted = session.header(
            frame.pointee.hd.stream_id, name: UnsafeBufferPointer(start: name, count: nameLength),
            value: UnsafeBufferPointer(start: value, count: valueLength))
        // A result other than 0 resets the stream. The rest of the block is still decoded, because HPACK's state
        // belongs to the connection.
        return isAccepted ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    private static let data: nghttp2_on_data_chunk_recv_callback = { _, _, stream, bytes, count, user in
        session(user)?.data(stream, bytes: UnsafeBufferPointer(start: bytes, count: count))
        return 0
    }

    private static let frameReceived: nghttp2_on_frame_recv_callback = { _, frame, user in
        guard let session = session(user), let frame else { return 0 }
        let header = frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            let isLast = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
            if isLast { session.peerFinished(header.stream_id) }
        case NGHTTP2_SETTINGS.rawValue:
            if UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue == 0 { session.settingsReceived() }
        case NGHTTP2_GOAWAY.rawValue:
            session.goAwayReceived(HTTP2GoAway(frame.pointee.goaway))
        default:
            break
        }
        return 0
    }

    private static let frameSent: nghttp2_on_frame_send_callback = { _, frame, user in
        guard let session = session(user), let frame else { return 0 }
        let header = frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue:
            session.headersWritten(header.stream_id)
        case NGHTTP2_GOAWAY.rawValue where !session.hasSentGoAway:
            // This GOAWAY is nghttp2's own; it is the reaction to a peer that violated the protocol.
            let goAway = HTTP2GoAway(frame.pointee.goaway)
            guard goAway.code != HTTP2ErrorCode.noError.rawValue else { break }
            let name = HTTP2ErrorCode.name(goAway.code)
            let complaint = session.frameError
            session.violation = "the peer broke the protocol: \(complaint.isEmpty ? name : "\(name): \(complaint)")"
        default:
            break
        }
        return 0
    }

    private static let streamClosed: nghttp2_on_stream_close_callback = { _, stream, code, user in
        session(user)?.streamClosed(stream, code: code)
        return 0
    }

    private static let complained: nghttp2_error_callback2 = { _, _, message, length, user in
        guard let session = session(user), let message else { return 0 }
        session.frameError = message.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: min(length, 512)), as: UTF8.self)
        }
        return 0
    }
}

extension HTTP2GoAway {
    init(_ frame: nghttp2_goaway) {
        self.init(
            lastStream: Int(frame.last_stream_id), code: frame.error_code,
            debugData: UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len))
    }
}
