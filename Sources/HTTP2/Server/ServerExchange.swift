/// A request and its answer, from the first header to the closed stream. Only the connection's loop may use it.
final class ServerExchange {
    let stream: Int32
    var request = HTTP2ServerRequest(method: "", path: "", authority: "", headers: [], body: [])
    /// The size of the request's fields by RFC 9113 6.5.2, including trailers.
    var headerListSize = 0
    /// The bytes of the request's body, including dropped ones.
    var bodySize = 0
    /// The number of header blocks so far; the second one is the trailers.
    var blocks = 0
    var isComplete = false
    /// Whether the request was answered or reset, so that this side does nothing more.
    var isSettled = false
    var answer: [UInt8] = []
    /// The bytes of `answer` sent in DATA frames so far.
    var sent = 0

    init(stream: Int32) { self.stream = stream }

    /// Whether the client waits for an answer.
    var isOwed: Bool { isComplete && !isSettled }
}
