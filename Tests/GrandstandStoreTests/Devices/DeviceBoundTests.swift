internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// What a stranger with an app's device key can add, or find out.
@Suite(.timeLimit(.minutes(20)))
struct DeviceBoundTests {
    @Test func `events without an audience of the app in its environment count as unknown`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            try await phones.stores.put(.sample("theirs", audiences: [.sample("com.example.Other")]))
            let (id, elsewhere) = (try Phones.id(), try Phones.id(in: .development))
            for one in [id, elsewhere] { try await phones.put(Phones.state(token: nil), of: one) }
            try await refuses(.eventNotFound) { try await phones.report(of: id, key: "theirs") }
            try await refuses(.eventNotFound) { try await phones.report(of: elsewhere) }
            #expect(try await phones.report(of: id))
        }
    }

    private func account(_ phones: Phones) async throws -> DeviceAccount {
        try await phones.stores.channels.quotas(now: phones.stores.now, tenure: Stores.tenure)
            .first { $0.environment == .production }?.devices ?? DeviceAccount()
    }

    @Test func `an app's stored total is always the number of its installations`() async throws {
        try await withPhones { phones in
            let ids = try (0..<3).map { _ in try Phones.id() }
            for _ in 0..<2 {
                for id in ids { try await phones.put(Phones.state(token: nil), of: id) }
                #expect(try await account(phones) == DeviceAccount(installations: 3, created: 3))
            }
            let history = PostgresHistory(Database(phones.stores.pool))
            #expect(try await history.prune(.deviceHours, before: .distantFuture, limit: 500) > 0)
            #expect(try await phones.stores.rows("device_accounts") == 1)
            #expect(try await account(phones).installations == 3)
            try await phones.store.forget(ids[2], secret: Phones.secret)
            let later = phones.stores.now + 1
            #expect(try await history.prune(.installations, before: later, limit: 1) == 1)
            #expect(try await history.prune(.installations, before: later, limit: 5) == 1)
            #expect(try await account(phones).installations == 0)
        }
    }

    @Test func `the number of new installations of an app per hour is limited`() async throws {
        try await withPhones { phones in
            let store = PostgresInstallationStore(Database(phones.stores.pool), mostNew: 2)
            func put(_ id: InstallationID) async throws {
                _ = try await store.put(Phones.state(token: nil), of: id, secret: Phones.secret, now: phones.stores.now)
            }
            let ids = try (0..<3).map { _ in try Phones.id() }
            for id in ids.prefix(2) { try await put(id) }
            try await refuses(.rateLimited) { try await put(ids[2]) }
            try await put(ids[0])
            try await put(try Phones.id(in: .development))
            phones.stores.clock.advance(by: 3_600)
            try await put(ids[2])
            let account = try await account(phones)
            #expect((account.installations, account.created, account.createdBefore) == (3, 1, 2))
        }
    }
}
