internal import CNghttp2

/// One nghttp2 session: frames in, frames out, HPACK, flow control, stream states.
///
/// **Ownership.** This object alone owns the C session and frees it in `deinit`. C is given two things of ours:
/// - the session's user data: this object, *not* retained. It outlives the C session by construction.
/// - each stream's user data and data source: `slot + 1` dressed as a pointer, never a reference. A slot is freed when
///   nghttp2 reports the stream closed, or with the whole connection.
///
/// So nothing is retained for C, and nothing has to be released. The C session must not be freed inside a callback:
/// `SessionEvents` forbids it, and every method here that runs callbacks keeps this object alive until it returns.
///
/// Confined to one event loop.
final class Session {
    enum Role {
        case client
        case server
    }

    let pointer: OpaquePointer
    /// Outlives the session, as its connection drops the session first. (Counted references took a fiftieth of a
    /// request's processor time.)
    unowned(unsafe) let events: any SessionEvents
    /// What nghttp2 last said about the peer's frames; explains a violation better than its error code.
    var complaint = ""
    /// We have said GOAWAY ourselves.
    var isLeaving = false
    /// The last stream our GOAWAYs promise to serve, from the moment they are queued: nghttp2 itself minds it only once
    /// they are sent.
    var lastServed = Int32.max
    var fields = HeaderFields()
    /// The stream whose header block is being read: blocks are never interleaved (RFC 9113 4.3), so it need not be
    /// looked up for each field.
    var block: (stream: Int32, slot: Int)?

    /// `nil` when memory is short.
    init?(_ role: Role, events: any SessionEvents) {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        SessionCallbacks.install(in: callbacks)
        var option: OpaquePointer?
        guard nghttp2_option_new(&option) == 0, let option else { return nil }
        defer { nghttp2_option_del(option) }
        // Closed streams are kept only for the priority tree, which is deprecated (RFC 9113 5.3).
        nghttp2_option_set_no_closed_streams(option, 1)
        var session: OpaquePointer?
        let status =
            switch role {
            case .client: nghttp2_session_client_new2(&session, callbacks, nil, option)
            case .server: nghttp2_session_server_new2(&session, callbacks, nil, option)
            }
        guard status == 0, let session else { return nil }
        pointer = session
        self.events = events
        nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { nghttp2_session_del(pointer) }

    // MARK: Bytes

    /// Feeds what came from the peer.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
        let consumed = withExtendedLifetime(self) { nghttp2_session_mem_recv(pointer, base, bytes.count) }
        if consumed < 0 { throw SessionError(code: Int32(consumed), complaint: complaint) }
    }

    /// The next bytes for the peer, valid until the next call; `nil` when there are none now.
    func nextOutput() throws(SessionError) -> UnsafeRawBufferPointer? {
        var bytes: UnsafePointer<UInt8>?
        let count = withExtendedLifetime(self) { nghttp2_session_mem_send(pointer, &bytes) }
        if count < 0 { throw SessionError(code: Int32(count), complaint: complaint) }
        return count == 0 ? nil : UnsafeRawBufferPointer(start: bytes, count: count)
    }

    /// Nothing more to read or to write: the connection should be closed.
    var isFinished: Bool {
        nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0
    }

    // MARK: What the peer allows

    /// The peer's SETTINGS_MAX_CONCURRENT_STREAMS; no limit reads as `Int(UInt32.max)`.
    var peerMaximumConcurrentStreams: Int {
        Int(nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Body bytes the peer takes on the whole connection now.
    var sendWindow: Int { Int(nghttp2_session_get_remote_window_size(pointer)) }

    /// Client role: the id the next request would get; 2^31 when none is left.
    var nextStream: UInt32 { nghttp2_session_get_next_stream_id(pointer) }

    /// Client role, for tests of what happens near the end.
    func setNextStream(_ stream: Int32) { nghttp2_session_set_next_stream_id(pointer, stream) }

    /// The highest stream of the peer's that was handed over.
    var lastProcessedStream: Int32 { nghttp2_session_get_last_proc_stream_id(pointer) }

    // MARK: Slots as pointers

    static func pointer(slot: Int) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: slot + 1) }

    static func slot(_ pointer: UnsafeMutableRawPointer?) -> Int? { pointer.map { Int(bitPattern: $0) - 1 } }

    func slot(of stream: Int32) -> Int? {
        Self.slot(nghttp2_session_get_stream_user_data(pointer, stream))
    }
}

/// nghttp2 can't go on with this session.
struct SessionError: Error, CustomStringConvertible {
    /// One of nghttp2's library error codes (negative).
    var code: Int32
    /// Its message about the frames before, or nothing.
    var complaint: String

    var description: String {
        complaint.isEmpty ? String(cString: nghttp2_strerror(code)) : complaint
    }
}
