internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// A creation that Apple did not answer, for an app that other systems also use. No event gets a channel of those
/// systems.
@Suite(.timeLimit(.minutes(20)))
struct WitnessTests {
    /// Begins to create a channel with the storage policy `mostRecentMessageStored`. Apple does not answer. `listed` is
    /// Apple's list just before the creation; `nil`: it was not read.
    private func lostCall(_ stores: StoreWorld, witness listed: [String]?) async throws {
        try await stores.put(.sample())
        try await stores.align()
        let task = try #require(try await stores.claimChannels().first)
        if let listed {
            try await stores.witness(listed)
            stores.clock.advance(by: 0.1)
            #expect(try await stores.channels.beginCall(of: task, now: stores.now))
        }
        stores.clock.advance(by: 0.1)
        try await stores.record(.unanswered(settleableAt: stores.now), of: task)
        stores.clock.advance(by: 1)
    }

    private let policies: [String: StoragePolicy] = [
        "theirs": .mostRecentMessageStored, "made": .mostRecentMessageStored,
    ]

    @Test
    func
        `without a list before the call nothing is adopted, an alarm is raised, and the event gets its own channel`()
        async throws
    {
        try await withStores { stores in
            try await lostCall(stores, witness: nil)
            let (actions, alarm) = try await stores.reconcile(["theirs"], policies: policies)
            #expect(actions.map(\.name) == [.reopen, .contest])
            #expect(alarm == .ambiguousCreation)
            #expect(try await stores.quota().alarm == .ambiguousCreation)
            try await stores.provision()
            let channel = try await stores.channel()
            #expect(channel.state == .active && channel.channelID != "theirs")
            // While the list has a channel that somebody must look at, the alarm stays, but for a day at most.
            let mine = try #require(channel.channelID)
            stores.clock.advance(by: 3_600)
            #expect(try await stores.reconcile([mine, "theirs"]).alarm == .ambiguousCreation)
            #expect(try await stores.reconcile([mine]).alarm == nil)
        }
    }

    @Test func `of two new channels for one call none is adopted`() async throws {
        try await withStores { stores in
            try await lostCall(stores, witness: [])
            let (actions, alarm) = try await stores.reconcile(["theirs", "made"], policies: policies)
            #expect(actions.map(\.name) == [.reopen, .contest, .contest])
            #expect(alarm == .ambiguousCreation)
            // The list that was just read counts as the list before the next creation.
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            #expect(abs(try #require(task.listAskedAt).timeIntervalSince(stores.now)) < 0.01)
            stores.clock.advance(by: 0.1)
            try await stores.record(.unanswered(settleableAt: stores.now), of: task)
            stores.clock.advance(by: 1)
            let again = try await stores.reconcile(
                ["theirs", "made", "again"], policies: ["again": .mostRecentMessageStored])
            #expect(again.actions.map(\.channelID) == ["again"])
            #expect(try await stores.channel().channelID == "again")
        }
    }

    @Test func `an older list replaces neither a newer list nor the channels first seen in it`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let early = stores.now
            let run = try await stores.beginReconciliation()
            let late = stores.clock.advance(by: 1)
            try await stores.witness(["x"])
            let snapshot = try await stores.reconciliations.observe(
                ChannelListing(channelIDs: []), listedAt: early, seenAt: late, run)
            #expect(snapshot.unmanaged.isEmpty)
            #expect(try await stores.unmanaged().map(\.firstSeenAt) == [late])
            #expect(try await stores.quota().apple == Contract.AppleCount(count: 1, at: late))
        }
    }
}
