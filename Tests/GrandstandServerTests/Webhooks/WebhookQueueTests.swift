internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Messages to webhooks, from the claim to the last attempt.
@Suite(.timeLimit(.minutes(20)))
struct WebhookQueueTests {
    @Test func `a failure is repeated by the schedule, and given up at its end`() async throws {
        try await withHooks { hooks in
            let (webhook, first) = try await hooks.tested()
            var message = first
            for delay in WebhookVerdict.delays {
                try await hooks.settle(message, .answered(status: 500))
                #expect(try await hooks.delivery(message).nextAttemptAt == hooks.stores.now + delay)
                hooks.stores.clock.advance(by: delay)
                message = try #require(try await hooks.claim().first)
            }
            try await hooks.settle(message, .answered(status: 500))
            let log = try await hooks.delivery(message)
            #expect(log.state == .failed && log.log.map(\.attempt) == Array(1...10))
            #expect(log.nextAttemptAt == nil)

            _ = try await hooks.webhooks.replay(message.id, of: webhook.uuid, hooks.caller)
            let again = try #require(try await hooks.claim().first)
            #expect(again.tries == 1)
            #expect(again.name == message.name)
            try await hooks.settle(again, .answered(status: 200))
            #expect(try await hooks.delivery(again).state == .delivered)
            #expect(try await hooks.delivery(again).attempts == 11)
        }
    }

    @Test func `a lease can be extended, and moves on without its replica`() async throws {
        try await withHooks { hooks in
            let (_, message) = try await hooks.tested()
            try await hooks.webhooks.extendLeases(
                of: [message.id], replica: hooks.stores.replica, until: hooks.stores.now + 60)
            hooks.stores.clock.advance(by: 20)
            #expect(try await hooks.claim(by: UUID()).isEmpty)
            let other = UUID()
            hooks.stores.clock.advance(by: 40)
            let taken = try #require(try await hooks.claim(by: other).first)
            #expect(taken.id == message.id && taken.tries == 2)
            try await hooks.webhooks.extendLeases(
                of: [message.id], replica: hooks.stores.replica, until: .distantFuture)
            try await hooks.webhooks.release(message.id, replica: hooks.stores.replica, now: hooks.stores.now)
            try await hooks.settle(message, .answered(status: 200))
            #expect(try await hooks.delivery(message).state == .sending)
            hooks.stores.clock.advance(by: 20)
            let again = try #require(try await hooks.claim(by: other).first)
            try await hooks.settle(again, .answered(status: 200), by: other)
            #expect(try await hooks.delivery(message).state == .delivered)
        }
    }

    @Test func `after a rotation both secrets sign until the overlap ends, and then only the new one`() async throws {
        try await withHooks { hooks in
            let (webhook, message) = try await hooks.tested()
            let old = message.secrets
            let rotated = try await hooks.webhooks.rotateSecret(of: webhook.uuid, overlap: 60, hooks.caller).secret
            let new = try #require(rotated.flatMap(WebhookSecret.init))
            for (seconds, secrets) in [(59.0, [new] + old), (1, [new])] {
                try await hooks.settle(message, .answered(status: 200))
                hooks.stores.clock.advance(by: seconds)
                _ = try await hooks.webhooks.replay(message.id, of: webhook.uuid, hooks.caller)
                #expect(try await hooks.claim().map(\.secrets) == [secrets])
            }
        }
    }

    @Test func `webhooks of one app share its places, and leave those of other apps free`() async throws {
        try await withHooks { hooks in
            for app in ["com.example.One", "com.example.Other"] { try await hooks.stores.apps.put(.sample(app)) }
            for _ in 0..<3 {
                let webhook = try await hooks.add([.quotaLevel], app: "com.example.One")
                for _ in 0..<4 { try await hooks.test(webhook) }
            }
            let first = try await hooks.claim(perWebhook: 4, perApp: 5)
            #expect(first.count == 5)
            #expect(Set(first.map(\.webhook)).count == 3)
            #expect(try await hooks.claim(perWebhook: 4, perApp: 5).isEmpty)
            hooks.stores.clock.advance(by: 1)
            let other = try await hooks.add([.quotaLevel], app: "com.example.Other")
            try await hooks.test(other)
            #expect(try await hooks.claim(limit: 1, perWebhook: 4, perApp: 5).map(\.webhook) == [other.uuid])
            try await hooks.settle(try #require(first.first), .answered(status: 200))
            #expect(try await hooks.claim(perWebhook: 4, perApp: 5).count == 1)
        }
    }

    @Test func `after a failure a webhook gets one message at a time until one is accepted`() async throws {
        try await withHooks { hooks in
            let webhook = try await hooks.add([.quotaLevel])
            for _ in 0..<8 { try await hooks.test(webhook) }
            let first = try await hooks.claim(perWebhook: 4)
            #expect(first.count == 4)
            for message in first { try await hooks.settle(message, .unanswered("no answer")) }
            let probe = try await hooks.claim(perWebhook: 4)
            #expect(probe.count == 1)
            #expect(try await hooks.claim(perWebhook: 4).isEmpty)
            try await hooks.settle(try #require(probe.first), .answered(status: 200))
            #expect(try await hooks.claim(perWebhook: 4).count == 3)
        }
    }

    @Test func `410 disables a webhook and cancels its waiting messages`() async throws {
        try await withHooks { hooks in
            let (webhook, message) = try await hooks.tested()
            try await hooks.test(webhook)
            try await hooks.settle(message, .answered(status: 410))
            #expect(try await hooks.webhook(webhook.uuid).value.enabled == false)
            #expect(Set(try await hooks.log(webhook.uuid).map(\.state)) == [.failed, .cancelled])
            // Enabling the webhook by hand resets its failures.
            try await hooks.setEnabled(true, webhook.uuid)
            let enabled = try await hooks.webhook(webhook.uuid).value
            #expect(enabled.enabled && enabled.reason == nil && enabled.failingSince == nil)
        }
    }

    @Test func `five days of failures disable a webhook, unless one succeeds`() async throws {
        try await withHooks { hooks in
            let webhook = try await hooks.add([.quotaLevel])
            func post(_ answer: WebhookAnswer) async throws -> Bool {
                try await hooks.test(webhook)
                try await hooks.settle(try #require(try await hooks.claim().first), answer)
                return try await hooks.webhook(webhook.uuid).value.enabled
            }
            #expect(try await post(.unanswered("x")))
            hooks.stores.clock.advance(by: 4 * 86_400)
            #expect(try await post(.answered(status: 200)))
            #expect(try await post(.unanswered("x")))
            hooks.stores.clock.advance(by: 5 * 86_400 - 1)
            #expect(try await post(.unanswered("x")))
            hooks.stores.clock.advance(by: 1)
            #expect(try await post(.unanswered("x")) == false)
        }
    }

    @Test func `old messages are removed with their log, except those still being tried`() async throws {
        try await withHooks { hooks in
            let (webhook, message) = try await hooks.tested()
            try await hooks.settle(message, .answered(status: 200))
            try await hooks.test(webhook)
            let history = hooks.stores.history
            #expect(try await history.prune("webhook messages", before: hooks.stores.now, limit: 10) == 0)
            hooks.stores.clock.advance(by: 1)
            #expect(try await history.prune("webhook messages", before: hooks.stores.now, limit: 10) == 1)
            try await refuses(.webhookDeliveryNotFound) { try await hooks.delivery(message) }
            #expect(try await hooks.claim().count == 1)
        }
    }

    /// A receiver whose posts end only when they are cancelled.
    private struct Receiver: WebhookGateway {
        let posted = AsyncStream.makeStream(of: UUID.self)

        func post(_ message: ClaimedWebhook) async -> WebhookAnswer {
            posted.continuation.yield(message.id)
            let (never, hold) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            withExtendedLifetime(hold) {}
            return .unanswered("cancelled")
        }
    }

    @Test func `messages without an answer at the end of the drain are given back`() async throws {
        try await withHooks { hooks in
            let webhook = try await hooks.add([.quotaLevel])
            try await hooks.test(webhook)
            let receiver = Receiver()
            let posts = WebhookPosts(
                webhooks: hooks.webhooks, gateway: receiver, signals: .byHand, lease: 3_600,
                drain: Drain(.milliseconds(20)), now: { hooks.stores.now }, logger: TestLog.logger("webhooks"))
            let running = Task { await posts.run() }
            for await _ in receiver.posted.stream { break }
            running.cancel()
            await running.value
            #expect(try await hooks.log(webhook.uuid).map(\.state) == [.queued])
            #expect(try await hooks.claim().map(\.tries) == [1])
        }
    }
}
