/// A request and its answer, from the first header to the closed stream. Confined to the connection's loop.
final class ServerExchange {
    let stream: Int32
    var request = HTTP2ServerRequest(method: "", path: "", authority: "", headers: [], body: [])
    /// Bytes of the request's fields as RFC 9113 6.5.2 counts them, trailers included.
    var headerListSize = 0
    /// Bytes of the request's body, kept or not.
    var bodySize = 0
    /// Header blocks so far: the second one is trailers.
    var blocks = 0
    /// The whole request is here.
    var isComplete = false
    /// Answered or reset: nothing more happens from this side.
    var isSettled = false
    var answer: [UInt8] = []
    /// Bytes of `answer` in DATA frames so far.
    var sent = 0

    init(stream: Int32) { self.stream = stream }

    /// The client waits for an answer.
    var isOwed: Bool { isComplete && !isSettled }
}
