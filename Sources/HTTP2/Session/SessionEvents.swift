/// The events of a session for its connection. `slot` is the number that the connection gave the stream. Unknown
/// streams are never reported.
///
/// These methods are called inside nghttp2. Implementations may change state and submit frames, but must neither use
/// the channel nor release the session.
protocol SessionEvents: AnyObject {
    /// Server only: a new request begins. Returns its slot, or `nil` to refuse it.
    func streamOpened(_ stream: Int32) -> Int?
    /// A header block begins: the first one, one after an informational answer, or trailers.
    func headersBegan(slot: Int)
    /// One field of the block. `false` resets the stream.
    func header(slot: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Bool
    func data(slot: Int, bytes: UnsafeBufferPointer<UInt8>)
    /// The peer has finished sending on this stream.
    func ended(slot: Int)
    /// The stream's first HEADERS were passed to the channel.
    func headersWritten(slot: Int)
    /// Copies the next bytes of the body of `slot` into `buffer`; `isLast` ends the stream.
    func readBody(slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool)
    /// The stream's last event. After it the slot may be used again.
    func streamClosed(slot: Int, stream: Int32, code: UInt32)

    func settingsReceived()
    func goAwayReceived(_ goAway: GoAway)
    /// The peer violated the protocol. nghttp2 has queued GOAWAY, and the connection must be closed.
    func violated(_ complaint: String)
}
