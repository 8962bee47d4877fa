internal import CNghttp2

extension Session {
    /// Sends the connection preface and our settings.
    ///
    /// - Parameters:
    ///   - settings: the entries of the first SETTINGS frame.
    ///   - connectionWindow: the body bytes that the peer may send on the whole connection without a WINDOW_UPDATE.
    func open(_ settings: [nghttp2_settings_entry], connectionWindow: Int32) throws(SessionError) {
        try check(nghttp2_submit_settings(pointer, 0, settings, settings.count))
        try check(nghttp2_session_set_local_window_size(pointer, 0, 0, connectionWindow))
    }

    /// Changes our limit of concurrent streams.
    func setMaximumConcurrentStreams(_ limit: Int) {
        let entry = nghttp2_settings_entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: limit))
        _ = withUnsafePointer(to: entry) { nghttp2_submit_settings(pointer, 0, $0, 1) }
    }

    /// Why nghttp2 did not accept a request or an answer.
    enum Refusal: Error {
        case invalidHeader(String)
        case library(SessionError)
    }

    /// Client only: submits a request and returns the stream's ID.
    func submit(_ request: HTTP2Request, slot: Int) throws(Refusal) -> Int32 {
        do {
            try fields.fill(request)
        } catch {
            throw .invalidHeader(error.name)
        }
        let stream = withBody(slot: slot, isEmpty: request.body.isEmpty) { provider in
            fields.withPairs { pairs, count in
                nghttp2_submit_request(pointer, nil, pairs, count, provider, Self.pointer(slot: slot))
            }
        }
        guard stream > 0 else { throw .library(SessionError(code: stream, complaint: "")) }
        return stream
    }

    /// Server only: answers a stream that has no answer yet.
    func respond(_ stream: Int32, status: Int, headers: [HTTP2Header], hasBody: Bool, slot: Int) throws(Refusal) {
        fields.removeAll()
        do {
            try fields.add(pseudo: ":status", String(status))
            for header in headers { try fields.add(header) }
        } catch {
            throw .invalidHeader(error.name)
        }
        let result = withBody(slot: slot, isEmpty: !hasBody) { provider in
            fields.withPairs { pairs, count in nghttp2_submit_response(pointer, stream, pairs, count, provider) }
        }
        guard result == 0 else { throw .library(SessionError(code: result, complaint: "")) }
    }

    /// Sends RST_STREAM. A closed stream is not affected.
    func reset(_ stream: Int32, code: UInt32) {
        _ = nghttp2_submit_rst_stream(pointer, 0, stream, code)
    }

    func ping() { _ = nghttp2_submit_ping(pointer, 0, nil) }

    /// Sends GOAWAY. The session ends after the streams up to `lastStream`.
    ///
    /// - Parameter lastStream: `nil`: `lastProcessedStream`. From one GOAWAY to the next, the ID may decrease, but not
    ///   increase. It must not be the ID of a stream that this side opened.
    func leave(code: UInt32, debugData: [UInt8], lastStream: Int? = nil) {
        isLeaving = true
        let last = min(lastStream.map { Int32(clamping: $0) } ?? .max, lastProcessedStream)
        lastServed = min(lastServed, max(0, last))
        _ = nghttp2_submit_goaway(pointer, 0, max(0, last), code, debugData, debugData.count)
    }

    /// Assigns a slot to a stream that the peer opened; `nil`: the stream is closed (client and server). A client's own
    /// streams get their slot in `submit`.
    func adopt(_ stream: Int32, slot: Int?) {
        _ = nghttp2_session_set_stream_user_data(pointer, stream, slot.flatMap { Self.pointer(slot: $0) })
    }

    private func withBody<Result>(
        slot: Int, isEmpty: Bool, _ submit: (UnsafePointer<nghttp2_data_provider>?) -> Result
    ) -> Result {
        guard !isEmpty else { return submit(nil) }
        let provider = nghttp2_data_provider(
            source: nghttp2_data_source(ptr: Self.pointer(slot: slot)), read_callback: SessionCallbacks.readBody)
        return withUnsafePointer(to: provider, submit)
    }

    private func check(_ status: Int32) throws(SessionError) {
        if status != 0 { throw SessionError(code: status, complaint: "") }
    }
}

extension nghttp2_settings_entry {
    init(_ id: nghttp2_settings_id, _ value: UInt32) {
        self.init(settings_id: Int32(bitPattern: id.rawValue), value: value)
    }
}
