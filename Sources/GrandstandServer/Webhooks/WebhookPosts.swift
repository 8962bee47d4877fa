internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Logging
internal import Synchronization

/// Claims messages for webhooks, posts them and records the verdicts. Receivers may be slow, gone or hostile.
struct WebhookPosts {
    let webhooks: WebhookStore
    let gateway: any WebhookGateway
    let signals: WakeUps
    /// Seconds until another replica takes the messages of a replica that died.
    let lease: TimeInterval
    /// How long a stop waits for posts in progress. The other messages are given back, and their attempts do not count.
    let drain: Drain
    let now: @Sendable () -> Date
    var mayClaim: @Sendable () -> Bool = { true }
    var counting: Counting = { _ in }
    let logger: Logger
    private let replica = UUID()
    private let receivers = Receivers()

    func run() async {
        // A post waits for its receiver and costs little else, so there are many places.
        let loop = WorkLoop<ClaimedWebhook>(
            .init(places: 256, pollInterval: .seconds(1), retry: .milliseconds(500), lease: lease, drain: drain),
            failure: "messages for webhooks could not be claimed", logger: logger, now: now,
            mayClaim: mayClaim, claim: { free, _ in try await claim(free) }, perform: post,
            giveUp: { message in { try await webhooks.release(message.id, replica: replica, now: now()) } },
            extend: { messages in
                try await webhooks.extendLeases(
                    of: messages.map(\.id), replica: replica, until: now().addingTimeInterval(lease))
            })
        await loop.run(wakenBy: signals.wakes(.webhooks))
    }

    private func claim(_ limit: Int) async throws -> Round<ClaimedWebhook> {
        let at = now()
        let claimed = try await webhooks.claim(
            limit, by: replica, at: at, until: at.addingTimeInterval(lease), avoiding: receivers.silent(at: at))
        for message in claimed { receivers.begin(message.webhook) }
        // The poll of each second finds what is due then. Messages that were not claimed because all places of their
        // webhook or app are taken are claimed when a post ends, because that wakes the loop.
        return await .claimed(claimed) { nil }
    }

    private func post(_ message: ClaimedWebhook) async -> WorkLoop<ClaimedWebhook>.Settling {
        let (startedAt, clock) = (now(), ContinuousClock.now)
        let answer = await gateway.post(message)
        receivers.end(message.webhook, Circuit.Outcome(answer), at: now())
        let verdict = WebhookVerdict(answer, tries: message.tries, now: now(), jitter: .random(in: 0..<1))
        log(verdict, message)
        let attempt = Contract.WebhookAttempt(
            attempt: message.attempts, at: startedAt,
            milliseconds: Int((ContinuousClock.now - clock) / .milliseconds(1)), status: verdict.status,
            reason: verdict.reason)
        return {
            try await webhooks.settle(message, verdict, attempt, replica: replica, now: now())
            if verdict.state != .queued { counting(.posted(isDelivered: verdict.state == .delivered)) }
        }
    }

    private func log(_ verdict: WebhookVerdict, _ message: ClaimedWebhook) {
        var metadata: Logger.Metadata = [
            "webhook": "\(message.webhook.words)", "message": "\(message.name)",
            "topic": "\(message.topic.rawValue)", "try": "\(message.tries)",
        ]
        if let reason = verdict.reason { metadata["reason"] = "\(reason)" }
        if let next = verdict.retryAt {
            metadata["next"] = "\(RFC3339.text(next))"
            logger.info("message to a webhook will be posted again", metadata: metadata)
        } else if verdict.state == .delivered {
            logger.debug("message accepted by the receiver", metadata: metadata)
        } else {
            logger.warning("message to a webhook failed for good", metadata: metadata)
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
