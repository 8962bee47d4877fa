internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1

/// The body as it arrives from the client. Its bytes take room in `BodyRoom` until the request is answered. Reading
/// distinguishes errors of the client from errors of the server.
struct ReceivedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let base: RequestBody
    /// The length in the header; `nil`: the body comes in chunks.
    let length: Int?
    let share: BodyShare

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        var length: Int?
        let share: BodyShare

        mutating func next() async throws -> ByteBuffer? {
            // Reserve the whole length first. Otherwise many bodies could be read in part and then find no room.
            if let length = length.take() { try share.expect(length) }
            let buffer: ByteBuffer?
            do {
                buffer = try await base.next()
            } catch {
                let fault = BrokenBody(error)
                share.broke(fault)
                throw fault
            }
            if let buffer { try share.receive(buffer.readableBytes) }
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator(), length: length, share: share)
    }
}

/// The body is incomplete, because of the client.
struct BrokenBody: Error {
    /// What is wrong with the body's encoding; `nil`: the connection ended.
    let fault: String?

    init(_ error: any Error) {
        switch error as? HTTPParserError {
        case nil, .invalidEOFState, .closedConnection: fault = nil
        case .headerOverflow: fault = "its trailers are too long"
        case .invalidChunkSize, .invalidContentLength:
            fault = "the size of a chunk is no hexadecimal number, or too large"
        case let error?: fault = "\(error)"
        }
    }

    var isGone: Bool { fault == nil }

    var problem: Problem {
        Problem(.malformedJson, "The body cannot be read: \(fault ?? "the connection ended before it did").")
    }
}

extension Request {
    /// The same request, with a body that takes its room from `share`.
    func receiving(in share: BodyShare) -> Request {
        guard headers[.contentLength] ?? headers[.transferEncoding] != nil else { return self }
        var request = self
        request.body = RequestBody(
            asyncSequence: ReceivedBody(base: body, length: headers[.contentLength].flatMap { Int($0) }, share: share))
        return request
    }
}
