/// Events of a session for its connection. `slot` is the number the connection gave the stream; a stream it does not
/// know, or knows no longer, is never reported.
///
/// Called from inside nghttp2: implementations change state and submit frames, but neither touch the channel nor let go
/// of the session.
protocol SessionEvents: AnyObject {
    /// Server role: a new request begins. The number to know it by, or `nil` to refuse it.
    func streamOpened(_ stream: Int32) -> Int?
    /// A header block begins: the first, the one after an informational answer, or trailers.
    func headersBegan(slot: Int)
    /// One field of the block. False resets the stream.
    func header(slot: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Bool
    func data(slot: Int, bytes: UnsafeBufferPointer<UInt8>)
    /// The peer has said all it has to say on this stream.
    func ended(slot: Int)
    /// The stream's first HEADERS were handed to the channel.
    func headersWritten(slot: Int)
    /// Copies the next bytes of the body of `slot` into `buffer`; `isLast` ends the stream.
    func readBody(slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool)
    /// The stream's last event: afterwards its slot may be used again.
    func streamClosed(slot: Int, stream: Int32, code: UInt32)

    func settingsReceived()
    func goAwayReceived(_ goAway: GoAway)
    /// The peer broke the protocol: nghttp2 has queued GOAWAY, and the connection must be closed.
    func violated(_ complaint: String)
}
