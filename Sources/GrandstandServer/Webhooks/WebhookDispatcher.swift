internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Claims messages for webhooks, posts the messages and records the verdicts. It works like `Dispatcher`, but the
/// receivers of webhooks may be slow, gone or hostile.
struct WebhookDispatcher: Service {
    struct Settings: Sendable {
        /// The maximum number of posts at a time. A post waits for its receiver and costs little else.
        var concurrency = 256
        /// `perWebhook`: the maximum number of posts at a time to one webhook. `perApp`: the maximum number of posts at
        /// a time to all webhooks of the same apps.
        var perWebhook = 4
        var perApp = 16
        /// Seconds until another replica takes the messages of a replica that died. The lease is extended during a
        /// post.
        var lease: TimeInterval
        /// How long a stop waits for posts in progress.
        var drain: Drain
        /// The longest sleep. The poll after this sleep finds work whose signal was lost.
        var pollInterval: Duration = .seconds(1)
        /// The maximum number of notes that one transaction makes into messages. The same limit applies to settled
        /// broadcasts. Database triggers write a note when something happens.
        var step = 500
    }

    let outbox: WebhookOutbox
    let gateway: any WebhookGateway
    let signals: WakeSignals
    let settings: Settings
    let now: @Sendable () -> Date
    var mayClaim: @Sendable () -> Bool = { true }
    var counting: Counting = { _ in }
    let logger: Logger
    private let replica = UUID()
    private let receivers = Receivers()

    /// Runs until a graceful stop. After the stop begins, the dispatcher claims no more messages, and posts in progress
    /// may finish within `drain`. The other messages are given back, and their attempts do not count.
    func run() async {
        let posting = WorkLoop<ClaimedWebhook>(
            .init(
                places: settings.concurrency, pollInterval: settings.pollInterval, retry: .milliseconds(500),
                lease: settings.lease, drain: settings.drain),
            failure: "messages for webhooks could not be claimed", logger: logger, now: now,
            .init(
                mayClaim: mayClaim, claim: { free, _ in try await claim(free) }, perform: post,
                giveUp: { message in { try await outbox.release([message.id], replica: replica, now: now()) } },
                extend: { messages in
                    try await outbox.extendLeases(
                        of: messages.map(\.id), replica: replica, until: now().addingTimeInterval(settings.lease))
                }))
        // Messages are composed in a separate loop, so that a webhook's log of messages shows new messages even while
        // slow receivers take all places.
        let composing = WorkLoop<Never>(
            .init(pollInterval: settings.pollInterval, retry: .milliseconds(500)),
            failure: "messages for webhooks could not be written", logger: logger, now: now
        ) {
            defer { posting.ring() }
            while try await outbox.compose(now: now(), limit: settings.step) >= settings.step {}
            return .idle()
        }
        async let posts: Void = posting.run()
        await composing.run(wakenBy: signals.wakes(.webhooks))
        await posts
    }

    private func claim(_ limit: Int) async throws -> Round<ClaimedWebhook> {
        let at = now()
        var claim = WebhookClaim(
            replica: replica, at: at, leasedUntil: at.addingTimeInterval(settings.lease), limit: limit,
            perWebhook: settings.perWebhook, perApp: settings.perApp)
        claim.avoiding = receivers.silent(at: at)
        let claimed = try await outbox.claim(claim)
        for message in claimed { receivers.begin(message.webhook) }
        // A due delivery that was not claimed belongs to a webhook or app whose places are all taken, or to a receiver
        // that does not answer. When a post ends, the loop is woken, so no earlier wake-up is needed for these
        // deliveries.
        return try await .claimed(claimed) { try await outbox.nextDue().flatMap { $0 > now() ? $0 : nil } }
    }

    private func post(_ message: ClaimedWebhook) async -> WorkLoop<ClaimedWebhook>.Settling {
        let (startedAt, clock) = (now(), ContinuousClock.now)
        let answer = await gateway.post(message)
        receivers.end(message.webhook, Circuit.Outcome(answer), at: now())
        let verdict = WebhookVerdict(answer, tries: message.tries, now: now(), jitter: .random(in: 0..<1))
        log(verdict, message)
        let settlement = WebhookSettlement(
            delivery: message.id, verdict: verdict, startedAt: startedAt,
            milliseconds: Int((ContinuousClock.now - clock) / .milliseconds(1)))
        return {
            try await outbox.settle(settlement, replica: replica, now: now())
            switch verdict {
            case .delivered: counting(.posted(isDelivered: true))
            case .failed, .gone: counting(.posted(isDelivered: false))
            case .retry: break
            }
        }
    }

    private func log(_ verdict: WebhookVerdict, _ message: ClaimedWebhook) {
        var metadata: Logger.Metadata = [
            "webhook": "\(message.webhook.uuidString.lowercased())",
            "message": "\(message.name)", "topic": "\(message.topic.rawValue)",
            "try": "\(message.tries)",
        ]
        if let reason = verdict.reason { metadata["reason"] = "\(reason)" }
        switch verdict {
        case .delivered: logger.debug("message accepted by the receiver", metadata: metadata)
        case .retry(let at, _, _):
            metadata["next"] = "\(RFC3339.text(at))"
            logger.info("message to a webhook will be posted again", metadata: metadata)
        case .failed, .gone: logger.warning("message to a webhook failed for good", metadata: metadata)
        }
    }
}

/// The receivers with posts in progress or with a recent failure, each with its circuit.
private final class Receivers: Sendable {
    private struct Receiver {
        var circuit = Circuit(.webhook)
        var posting = 0
    }

    private let receivers = Mutex<[UUID: Receiver]>([:])

    /// The receivers to which nothing may be posted now.
    func silent(at now: Date) -> [UUID] {
        receivers.withLock { receivers in
            var silent: [UUID] = []
            for (id, receiver) in receivers where !receiver.circuit.isClosed {
                if receivers[id]?.circuit.admits(1, flying: receiver.posting, now: now) == 0 { silent.append(id) }
            }
            return silent
        }
    }

    func begin(_ id: UUID) { receivers.withLock { $0[id, default: Receiver()].posting += 1 } }

    func end(_ id: UUID, _ outcome: Circuit.Outcome, at now: Date) {
        receivers.withLock { receivers in
            guard var receiver = receivers[id] else { return }
            receiver.posting -= 1
            receiver.circuit.record(outcome, now: now, jitter: .random(in: 0..<1))
            receivers[id] = receiver.posting == 0 && receiver.circuit == Circuit(.webhook) ? nil : receiver
        }
    }
}
