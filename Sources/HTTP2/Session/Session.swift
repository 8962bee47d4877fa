internal import CNghttp2

/// One nghttp2 session: frames, HPACK, flow control, stream states.
///
/// **Ownership.** Only this object owns the C session, and frees it in `deinit`. C gets two values:
/// - the session's user data: this object, *not* retained. It always lives longer than the C session.
/// - each stream's user data and data source: `slot + 1` as a pointer, never a reference. A slot is freed when nghttp2
///   reports the stream as closed, or with the whole connection.
///
/// So nothing is retained for C, and nothing has to be released. The C session must not be freed inside a callback:
/// `SessionEvents` forbids it, and every method that runs callbacks keeps this object alive until it returns.
///
/// Only one event loop may use it.
final class Session {
    enum Role {
        case client
        case server
    }

    let pointer: OpaquePointer
    /// Not retained, because reference counting takes a fiftieth of a request's processor time. The connection owns the
    /// session and `events`, and releases the session before it releases `events`.
    unowned(unsafe) let events: any SessionEvents
    /// nghttp2's last message about the peer's frames. It explains a violation better than the error code.
    var complaint = ""
    /// Whether we have sent GOAWAY.
    var isLeaving = false
    /// The last stream that our GOAWAYs promise to serve. It is valid as soon as a GOAWAY is queued; nghttp2 itself
    /// refuses later streams only after it has sent the GOAWAY.
    var lastServed = Int32.max
    var fields = HeaderFields()
    /// The stream whose header block is being read. Blocks are never interleaved (RFC 9113 4.3), so the stream need not
    /// be looked up for each field.
    var block: (stream: Int32, slot: Int)?

    /// Returns `nil` if there is not enough memory.
    init?(_ role: Role, events: any SessionEvents) {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        SessionCallbacks.install(in: callbacks)
        var option: OpaquePointer?
        guard nghttp2_option_new(&option) == 0, let option else { return nil }
        defer { nghttp2_option_del(option) }
        // Closed streams would be kept only for the priority tree, which is deprecated (RFC 9113 5.3).
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

    /// Processes bytes from the peer.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
        let consumed = withExtendedLifetime(self) { nghttp2_session_mem_recv(pointer, base, bytes.count) }
        if consumed < 0 { throw SessionError(code: Int32(consumed), complaint: complaint) }
    }

    /// The next bytes for the peer, valid until the next call; `nil`: there are none now.
    func nextOutput() throws(SessionError) -> UnsafeRawBufferPointer? {
        var bytes: UnsafePointer<UInt8>?
        let count = withExtendedLifetime(self) { nghttp2_session_mem_send(pointer, &bytes) }
        if count < 0 { throw SessionError(code: Int32(count), complaint: complaint) }
        return count == 0 ? nil : UnsafeRawBufferPointer(start: bytes, count: count)
    }

    /// Whether there is nothing more to read or write, so that the connection should be closed.
    var isFinished: Bool {
        nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0
    }

    // MARK: What the peer allows

    /// The peer's SETTINGS_MAX_CONCURRENT_STREAMS; `Int(UInt32.max)` means no limit.
    var peerMaximumConcurrentStreams: Int {
        Int(nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// The body bytes that the peer accepts now on the whole connection.
    var sendWindow: Int { Int(nghttp2_session_get_remote_window_size(pointer)) }

    /// Client only: the ID of the next request; 2^31 if there is none left.
    var nextStream: UInt32 { nghttp2_session_get_next_stream_id(pointer) }

    /// Client only: sets the next ID, for tests in which the stream IDs run out.
    func setNextStream(_ stream: Int32) { nghttp2_session_set_next_stream_id(pointer, stream) }

    /// The highest stream ID of the peer that nghttp2 has passed to the callbacks.
    var lastProcessedStream: Int32 { nghttp2_session_get_last_proc_stream_id(pointer) }

    // MARK: Slots as pointers

    static func pointer(slot: Int) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: slot + 1) }

    static func slot(_ pointer: UnsafeMutableRawPointer?) -> Int? { pointer.map { Int(bitPattern: $0) - 1 } }

    func slot(of stream: Int32) -> Int? {
        Self.slot(nghttp2_session_get_stream_user_data(pointer, stream))
    }
}

/// nghttp2 cannot continue with this session.
struct SessionError: Error, CustomStringConvertible {
    /// One of nghttp2's library error codes (negative).
    var code: Int32
    /// nghttp2's message about earlier frames; may be empty.
    var complaint: String

    var description: String {
        complaint.isEmpty ? String(cString: nghttp2_strerror(code)) : complaint
    }
}
