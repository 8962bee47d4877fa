internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// The memory that all request bodies together may take, from their first byte until the answer. It bounds the bytes of
/// requests that wait, however many requests there are.
///
/// One caller gets at most half of the memory, so a caller that sends much or slowly leaves room for others.
final class BodyRoom: Sendable {
    /// The maximum of each part. It counts received bytes. Parsed JSON takes several times as much memory until the
    /// answer.
    private static let limit = 32 << 20

    /// The bytes in use, in two parts: the first `Route.standardBodyLimit` bytes of each body, and those after them.
    private let taken = Mutex((all: SIMD2<Int>(), callers: [UUID?: SIMD2<Int>]()))

    /// Takes room in both parts, or gives it back.
    ///
    /// - Returns: whether there was room. If not, nothing is taken.
    func take(_ bytes: SIMD2<Int>, for caller: UUID?) -> Bool {
        taken.withLock { taken in
            let (all, own) = (taken.all &+ bytes, taken.callers[caller, default: SIMD2()] &+ bytes)
            guard all.max() <= Self.limit, own.max() <= Self.limit / 2 else { return false }
            taken.all = all
            taken.callers[caller] = own == SIMD2() ? nil : own
            return true
        }
    }
}

/// What one request takes of the server: its share of the room for bodies, and of its key's rate.
final class RequestShare: Sendable {
    private struct State {
        var caller: UUID?
        var rate: RateLimit.Standing?
        var received = 0
        var announced = 0
        var taken = SIMD2<Int>()
        var fault: BrokenBody?
    }

    private let room: BodyRoom
    private let state = Mutex(State())

    init(_ room: BodyRoom) { self.room = room }

    /// Sets the caller and its rate limit, as soon as they are known and before the body is read.
    func belongs(to caller: UUID, _ rate: RateLimit.Standing?) {
        state.withLock { ($0.caller, $0.rate) = (caller, rate) }
    }

    /// The rate limit of the request's key.
    var rate: RateLimit.Standing? { state.withLock { $0.rate } }

    /// Why the body is incomplete; `nil`: it is complete, or was not read.
    var fault: BrokenBody? { state.withLock { $0.fault } }

    fileprivate func broke(_ fault: BrokenBody) { state.withLock { $0.fault = fault } }

    /// Takes room for bytes that were received, and for all that are announced. The first bytes of a body take room only
    /// when they arrive.
    ///
    /// - Throws: `rate-limited` with status 503 if there is no room.
    fileprivate func receive(_ count: Int, of length: Int = 0) throws(Problem) {
        let hasRoom = state.withLock { state in
            state.received += count
            state.announced = max(state.announced, length, state.received)
            let limit = Route.standardBodyLimit
            let wanted = SIMD2(min(state.received, limit), max(0, state.announced - limit))
            guard room.take(wanted &- state.taken, for: state.caller) else { return false }
            state.taken = wanted
            return true
        }
        guard !hasRoom else { return }
        var problem = Problem(
            .rateLimited,
            "The server has no memory left for the body of another request. Send the request again in a second.",
            retryAfter: 1)
        problem.status = 503
        throw problem
    }

    /// Frees the room after the answer.
    func leave() {
        state.withLock { state in
            _ = room.take(SIMD2() &- state.taken, for: state.caller)
            state.taken = SIMD2()
        }
    }
}

/// The body as it arrives from the client. Its bytes take room in `BodyRoom` until the request is answered. Reading
/// distinguishes errors of the client from errors of the server.
struct ReceivedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let base: RequestBody
    /// The length in the header; `nil`: the body comes in chunks.
    let length: Int?
    let share: RequestShare

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        var length: Int?
        let share: RequestShare

        mutating func next() async throws -> ByteBuffer? {
            // Reserve the whole length first. Otherwise many bodies could be read in part and then find no room.
            if let length = length.take() { try share.receive(0, of: length) }
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
    func receiving(in share: RequestShare) -> Request {
        guard headers[.contentLength] ?? headers[.transferEncoding] != nil else { return self }
        var request = self
        request.body = RequestBody(
            asyncSequence: ReceivedBody(base: body, length: headers[.contentLength].flatMap { Int($0) }, share: share))
        return request
    }
}
