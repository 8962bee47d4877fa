internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// How replicas share a rate.
struct SendRatesTests {
    /// Runs a test with the store through which replicas share an app's send rates.
    private static func withStore(_ body: (PostgresSendRates) async throws -> Void) async throws {
        try await withDatabase { test in
            try await PostgresAppStore(test.database).put(.sample(Sample.bundleID.rawValue))
            try await body(PostgresSendRates(test.database))
        }
    }

    private final class Replica: Sendable {
        let rates = SendRates(environment: .production, api: .broadcast, logger: Sample.logger)
        let exchange: RateExchange

        init(_ store: PostgresSendRates, _ clock: @escaping @Sendable () -> Date) {
            exchange = RateExchange([rates], store: store, now: clock, logger: Sample.logger)
        }

        func answer(_ answer: APNsAnswer<Void>, lane: Int, at now: Date) {
            _ = rates.record(answer, of: Sample.bundleID, lane: lane, sentAt: now, at: now)
        }

        var perSecond: Double { rates.learned(of: UUID(), at: Sample.now).first?.perSecond ?? 0 }
    }

    /// Refuses messages on ten lanes, and on the same lanes again a second later, as APNs does at a limit of the app.
    private func refuse(_ replica: Replica, _ clock: borrowing Mutex<Date>) {
        for lane in Array(100..<110) + Array(100..<110) {
            replica.answer(.refused(Sample.refusal(.tooManyRequests)), lane: lane, at: clock.withLock { $0 })
            clock.withLock { $0 += 0.12 }
        }
    }

    @Test func `a replica that joins or leaves changes the others' shares and not the sum`() async throws {
        try await Self.withStore { store in
            let clock = Mutex(Sample.now)
            let now: @Sendable () -> Date = { clock.withLock { $0 } }
            let replicas = (1...3).map { _ in Replica(store, now) }
            for number in 0..<90 {
                clock.withLock { $0 += 0.01 }
                replicas[0].answer(.accepted((), APNsReceipt(requestID: nil)), lane: number, at: now())
            }
            refuse(replicas[0], clock)
            let sum = replicas[0].perSecond
            #expect(sum > 10)
            // With each exchange a replica learns which other replicas exist.
            for _ in 1...3 { for replica in replicas { try await replica.exchange.exchange() } }
            #expect(abs(replicas.reduce(0) { $0 + $1.perSecond } - sum) < 1)
            for replica in replicas { #expect(abs(replica.perSecond - sum / 3) < 1) }
            await replicas[2].exchange.leave()
            for replica in replicas[0...1] { try await replica.exchange.exchange() }
            #expect(abs(replicas[0...1].reduce(0) { $0 + $1.perSecond } - sum) < 1)
        }
    }

    @Test func `a limit ends on all replicas five minutes after the last 429 on any of them`() async throws {
        try await Self.withStore { store in
            let clock = Mutex(Sample.now)
            let now: @Sendable () -> Date = { clock.withLock { $0 } }
            let replicas = (1...2).map { _ in Replica(store, now) }
            refuse(replicas[0], clock)
            for replica in replicas { try await replica.exchange.exchange() }
            #expect(replicas.allSatisfy { $0.rates.isAnyLimited })
            clock.withLock { $0 += 301 }
            for replica in replicas { try await replica.exchange.exchange() }
            for replica in replicas { try await replica.exchange.exchange() }
            #expect(!replicas.contains { $0.rates.isAnyLimited })
        }
    }
}
