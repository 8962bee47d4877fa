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
    /// Bytes in the two parts of the room.
    struct Bytes: Sendable, Equatable {
        /// The first `Route.standardBodyLimit` bytes of each body.
        var small = 0
        /// The bytes of each body after its first `Route.standardBodyLimit` bytes.
        var large = 0

        static func + (left: Bytes, right: Bytes) -> Bytes {
            Bytes(small: left.small + right.small, large: left.large + right.large)
        }

        static func - (left: Bytes, right: Bytes) -> Bytes {
            Bytes(small: left.small - right.small, large: left.large - right.large)
        }

        func fits(into other: Bytes) -> Bool { small <= other.small && large <= other.large }
        var half: Bytes { Bytes(small: small / 2, large: large / 2) }
    }

    private struct State {
        var all = Bytes()
        var callers: [UUID?: Bytes] = [:]
    }

    /// These sizes count received bytes. Parsed JSON takes several times as much memory until the answer.
    static let standard = Bytes(small: 32 << 20, large: 32 << 20)

    private let limit: Bytes
    private let state = Mutex(State())

    init(limit: Bytes = BodyRoom.standard) { self.limit = limit }

    /// The bytes in use now.
    var taken: Bytes { state.withLock { $0.all } }

    /// - Returns: whether there was room. If not, nothing is taken.
    func take(_ bytes: Bytes, for caller: UUID?) -> Bool {
        state.withLock { state in
            let (all, own) = (state.all + bytes, (state.callers[caller] ?? Bytes()) + bytes)
            guard all.fits(into: limit), own.fits(into: limit.half) else { return false }
            state.all = all
            state.callers[caller] = own
            return true
        }
    }

    func leave(_ bytes: Bytes, of caller: UUID?) {
        state.withLock { state in
            state.all = state.all - bytes
            let own = (state.callers[caller] ?? Bytes()) - bytes
            state.callers[caller] = own == Bytes() ? nil : own
        }
    }
}

/// One request's share of the room.
final class BodyShare: Sendable {
    private struct State {
        var caller: UUID?
        var received = 0
        var taken = BodyRoom.Bytes()
        var fault: BrokenBody?
    }

    private let room: BodyRoom
    private let state = Mutex(State())

    init(_ room: BodyRoom) { self.room = room }

    /// Sets the caller, as soon as it is known and before the body is read.
    func belongs(to caller: UUID) { state.withLock { $0.caller = caller } }

    /// Why the body is incomplete; `nil`: it is complete, or was not read.
    var fault: BrokenBody? { state.withLock { $0.fault } }

    func broke(_ fault: BrokenBody) { state.withLock { $0.fault = fault } }

    /// Reserves room for a body with a `Content-Length`, before it is read.
    ///
    /// - Throws: `rate-limited` with status 503 if there is no room.
    func expect(_ length: Int) throws(Problem) {
        // The header may contain any number, so it is bounded before the arithmetic.
        try take(BodyRoom.Bytes(large: max(0, min(length, 1 << 40) - Route.standardBodyLimit)))
    }

    /// - Throws: `rate-limited` with status 503 if there is no room.
    func receive(_ count: Int) throws(Problem) {
        let (before, after) = state.withLock { state in
            defer { state.received += count }
            return (state.received, state.received + count)
        }
        let small = min(after, Route.standardBodyLimit) - min(before, Route.standardBodyLimit)
        let large = max(0, after - Route.standardBodyLimit) - state.withLock { $0.taken.large }
        try take(BodyRoom.Bytes(small: small, large: max(0, large)))
    }

    /// Frees the share after the answer.
    func leave() {
        let (caller, taken) = state.withLock { state in
            defer { state.taken = BodyRoom.Bytes() }
            return (state.caller, state.taken)
        }
        room.leave(taken, of: caller)
    }

    private func take(_ bytes: BodyRoom.Bytes) throws(Problem) {
        guard bytes != BodyRoom.Bytes() else { return }
        guard room.take(bytes, for: state.withLock { $0.caller }) else { throw Self.full }
        state.withLock { $0.taken = $0.taken + bytes }
    }

    private static let full: Problem = {
        var problem = Problem(
            .rateLimited,
            "The server has no memory left for the body of another request. Send the request again in a second.",
            retryAfter: 1)
        problem.status = 503
        return problem
    }()
}

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
