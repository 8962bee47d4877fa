internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization

/// A call that a test's code should not have made.
struct NotScripted: Error {}

/// A ledger that keeps what is recorded and does nothing else.
final class FakeLedger: ChannelStore {
    private let outcomes = Mutex<[ChannelOutcome]>([])
    private let channel: Mutex<Channel>

    init(_ channel: Channel) { self.channel = Mutex(channel) }

    var recorded: [ChannelOutcome] { outcomes.withLock { $0 } }

    func record(_ outcome: ChannelOutcome, of id: UUID, now: Date) async throws -> Channel {
        outcomes.withLock { $0.append(outcome) }
        return channel.withLock { $0 }
    }

    func reserve(_ draft: ChannelDraft, now: Date, leasedUntil: Date) async throws -> ChannelTask {
        throw NotScripted()
    }

    func channel(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment
    ) async throws -> Channel? { throw NotScripted() }

    func channels(
        of bundleID: BundleID, in environment: APNsEnvironment, where filter: ChannelFilter, _ page: PageRequest
    ) async throws -> Page<Channel> { throw NotScripted() }

    func align(now: Date, retireAfter: TimeInterval) async throws -> Int { throw NotScripted() }

    func claimDue(now: Date, leasedUntil: Date, limit: Int) async throws -> [ChannelTask] { throw NotScripted() }

    func nextDue(now: Date) async throws -> Date? { throw NotScripted() }

    func beginDeletion(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment, force: Bool, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask { throw NotScripted() }

    func address(of bundleID: BundleID, in environment: APNsEnvironment) async throws -> APNsAddress? {
        throw NotScripted()
    }

    func quotas(now: Date, retireAfter: TimeInterval) async throws -> [Quota] { throw NotScripted() }
}

/// Apps that keep the quirks they are taught; `fails`: they cannot.
final class FakeApps: AppStore {
    private let quirks = Mutex<[Quirk]>([])
    private let fails: Bool

    init(fails: Bool = false) { self.fails = fails }

    var learned: [Quirk] { quirks.withLock { $0 } }

    func learn(_ quirk: Quirk, of bundleID: BundleID) async throws {
        if fails { throw NotScripted() }
        quirks.withLock { $0.append(quirk) }
    }

    func put(_ app: App) async throws -> (app: App, created: Bool) { throw NotScripted() }

    func app(_ bundleID: BundleID) async throws -> App? { throw NotScripted() }

    func apps(_ page: PageRequest) async throws -> Page<App> { throw NotScripted() }

    func quirks(of bundleID: BundleID) async throws -> [Quirk] { learned }

    func delete(_ bundleID: BundleID) async throws { throw NotScripted() }
}
