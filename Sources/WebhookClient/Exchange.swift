internal import FoundationEssentials
internal import Grandstand
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// The request of an exchange.
struct ExchangeRequest: Sendable {
    let head: HTTPRequestHead
    let body: ByteBuffer
}

/// One post and its one answer: the first to settle it decides, and ends the connection.
final class Exchange: Sendable {
    private enum State {
        case open(
            status: WebhookAnswer?, channel: (any NIOCore.Channel)?, waiter: CheckedContinuation<WebhookAnswer, Never>?)
        case settled(WebhookAnswer)
    }

    let request: ExchangeRequest
    let now: @Sendable () -> Date
    private let state = Mutex<State>(.open(status: nil, channel: nil, waiter: nil))

    init(request: ExchangeRequest, now: @escaping @Sendable () -> Date) {
        self.request = request
        self.now = now
    }

    var isSettled: Bool { state.withLock { if case .settled = $0 { true } else { false } } }

    /// The answer, once there is one.
    func answer() async -> WebhookAnswer {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> WebhookAnswer? in
                switch state {
                case .settled(let answer): return answer
                case .open(let status, let channel, _):
                    state = .open(status: status, channel: channel, waiter: continuation)
                    return nil
                }
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// A connection there is; it is closed when the exchange was settled meanwhile.
    func adopt(_ channel: any NIOCore.Channel) {
        let isLate = state.withLock { state in
            guard case .open(let status, _, let waiter) = state else { return true }
            state = .open(status: status, channel: channel, waiter: waiter)
            return false
        }
        if isLate { channel.close(promise: nil) }
    }

    /// The head of the answer is there: from now on the status counts, whatever becomes of the body.
    func note(_ answer: WebhookAnswer) {
        state.withLock { state in
            guard case .open(_, let channel, let waiter) = state else { return }
            state = .open(status: answer, channel: channel, waiter: waiter)
        }
    }

    /// The exchange is over: with the status, if there was one, else with `answer`.
    func settle(_ answer: WebhookAnswer) {
        let (final, channel, waiter) = state.withLock {
            state -> (WebhookAnswer, (any NIOCore.Channel)?, CheckedContinuation<WebhookAnswer, Never>?) in
            guard case .open(let status, let channel, let waiter) = state else { return (answer, nil, nil) }
            let final = status ?? answer
            state = .settled(final)
            return (final, channel, waiter)
        }
        channel?.close(promise: nil)
        waiter?.resume(returning: final)
    }

    /// The time is over.
    func expire() { settle(.unanswered("no answer in time")) }
}
