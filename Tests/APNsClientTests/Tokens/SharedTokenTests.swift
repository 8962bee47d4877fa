internal import CoreMetrics
internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import APNsClient

/// Replicas that share a key send the same token.
@Suite(.timeLimit(.minutes(20)))
struct SharedTokenTests {
    /// A store in memory that does what `ProviderTokenStore` documents. It can be made to fail.
    private final class Store: ProviderTokenStore {
        struct Down: Error {}

        private let kept = Mutex<[ProviderTokenKey: SharedProviderToken]>([:])
        private let isDown = Mutex(false)

        /// What somebody who can read the database sees.
        var bytes: [[UInt8]] { kept.withLock { $0.values.map(\.sealed) } }

        func damage() { kept.withLock { kept in for key in kept.keys { kept[key]!.sealed[20] ^= 1 } } }

        func fail(_ down: Bool = true) { isDown.withLock { $0 = down } }

        func agree(
            on offer: SharedProviderToken, for key: ProviderTokenKey, replacing limit: Int
        ) async throws -> SharedProviderToken {
            if isDown.withLock({ $0 }) { throw Down() }
            return kept.withLock { kept in
                if let token = kept[key], token.issuedAt > limit { return token }
                kept[key] = offer
                return offer
            }
        }
    }

    private static let credentials = KeyFolder.credentials
    private static let start = 600.0 * 2_800_000

    private static func replica(_ folder: KeyFolder, _ clock: HeldClock, _ store: Store) -> ProviderTokens {
        ProviderTokens(
            keys: KeyRing(directory: folder.path), store: store,
            metrics: CallMetrics(factory: NOOPMetricsHandler.instance), logger: ClientAndSimulator.logger,
            now: { clock.now })
    }

    @Test func `all replicas send the token that one of them signed, also after a renewal`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let (clock, store) = (HeldClock(Self.start), Store())
        let replicas = (0..<3).map { _ in Self.replica(folder, clock, store) }
        var sent: Set<String> = []
        for replica in replicas {
            sent.insert(try await replica.token(for: Self.credentials).text)
            clock.advance(by: 900)
        }
        #expect(sent.count == 1)
        clock.advance(by: 300)
        for replica in replicas {
            _ = try await replica.token(for: Self.credentials)
            await replica.settled(Self.credentials)
            sent.insert(try await replica.token(for: Self.credentials).text)
        }
        #expect(sent.count == 2)
    }

    @Test func `the token cannot be read from the database`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let (clock, store) = (HeldClock(Self.start), Store())
        let token = try await Self.replica(folder, clock, store).token(for: Self.credentials)
        let kept = try #require(store.bytes.first)
        #expect(store.bytes.count == 1)
        let parts = token.text.split(separator: ".").map { Array($0.utf8) }
        #expect(parts.count == 3)
        for part in parts { #expect(kept.firstRange(of: part) == nil) }
    }

    @Test func `a token that was changed in the database is not sent, and each replica uses its own`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let (clock, store) = (HeldClock(Self.start), Store())
        let first = try await Self.replica(folder, clock, store).token(for: Self.credentials)
        store.damage()
        let other = try await Self.replica(folder, clock, store).token(for: Self.credentials)
        #expect(other.issuedAt == first.issuedAt)
        #expect(other.text != first.text)
    }

    @Test func `an expired token is replaced once for all replicas`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let (clock, store) = (HeldClock(Self.start), Store())
        let (one, other) = (Self.replica(folder, clock, store), Self.replica(folder, clock, store))
        let first = try await one.token(for: Self.credentials)
        #expect(try await other.token(for: Self.credentials) == first)
        clock.advance(by: 1_300)
        #expect(try await one.replaceExpired(first, of: Self.credentials))
        #expect(try await other.replaceExpired(first, of: Self.credentials))
        let second = try await one.token(for: Self.credentials)
        #expect(second != first)
        #expect(try await other.token(for: Self.credentials) == second)
    }

    @Test func `replicas with different key files do not share a token`() async throws {
        let (folder, other) = (try KeyFolder(), try KeyFolder())
        try folder.writeKey()
        try other.writeKey()
        let (clock, store) = (HeldClock(Self.start), Store())
        let one = try await Self.replica(folder, clock, store).token(for: Self.credentials)
        let two = try await Self.replica(other, clock, store).token(for: Self.credentials)
        #expect(one.fingerprint != two.fingerprint)
        #expect(one.text != two.text)
    }

    @Test func `while the store cannot be reached the present token is used, and then the process's own`() async throws
    {
        let folder = try KeyFolder()
        try folder.writeKey()
        let (clock, store) = (HeldClock(Self.start), Store())
        let replica = Self.replica(folder, clock, store)
        let first = try await replica.token(for: Self.credentials)
        store.fail()
        clock.advance(by: 3_100)
        #expect(try await replica.token(for: Self.credentials) == first)
        await replica.settled(Self.credentials)
        #expect(try await replica.token(for: Self.credentials) == first)
        clock.advance(by: 500)
        let own = try await replica.token(for: Self.credentials)
        #expect(own.issuedAt == Int(Self.start) + 3_600)
    }

    @Test func `when the store is back it is used again`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let (clock, store) = (HeldClock(Self.start), Store())
        let replica = Self.replica(folder, clock, store)
        let first = try await replica.token(for: Self.credentials)
        store.fail()
        clock.advance(by: 3_000)
        _ = try await replica.token(for: Self.credentials)
        await replica.settled(Self.credentials)
        store.fail(false)
        clock.advance(by: 5)
        _ = try await replica.token(for: Self.credentials)
        await replica.settled(Self.credentials)
        #expect(try await replica.token(for: Self.credentials) != first)
    }
}
