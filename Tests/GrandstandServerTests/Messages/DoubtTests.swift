internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Apple refuses a message because it does not know the channel. One refusal is only a suspicion; Apple's list decides.
struct DoubtTests {
    /// The result that the dispatcher records when Apple does not know the channel.
    private func doubt(_ stores: StoreWorld, _ delivery: ClaimedDelivery, _ last: Bool = false) async throws {
        try await stores.settle(
            delivery, .channelDoubted(.channelGone, next: last ? nil : stores.now + 1))
    }

    @Test func `a refusal is checked at once, and another in half a minute`() async throws {
        try await withEvent { stores in
            stores.clock.advance(by: 60)
            let channel = try await stores.channel()
            let channelID = try #require(channel.channelID)
            let broadcast = try await stores.accept(.update(#"{"n":1}"#))
            let first = try #require(try await stores.claim().first)
            #expect(try await stores.claimReconciliation() == nil)
            try await doubt(stores, first)
            let doubted = try await stores.channel()
            #expect(doubted.state == .active && doubted.reason == "ChannelNotRegistered")
            let run = try #require(try await stores.claimReconciliation())
            try await stores.channels.extend(run, until: stores.now)

            stores.clock.advance(by: 0.5)
            let (actions, alarm) = try await stores.reconcile([channelID], policies: [channelID: channel.storagePolicy])
            #expect(actions.map(\.name) == [.confirm] && alarm == nil)
            let present = try await stores.channel()
            #expect(present.id == channel.id && present.state == .active && present.reason == nil)
            stores.clock.advance(by: 1)
            let second = try #require(try await stores.claim().first)
            #expect(
                second.body == first.body && second.message.channelID == first.message.channelID
                    && second.message.attempts == 2)
            try await doubt(stores, second, true)
            let delivery = try await stores.delivery(of: broadcast)
            #expect(delivery.state == .rejected && delivery.reason == "ChannelNotRegistered")
            #expect(try await stores.channel().state == .active)
            stores.clock.advance(by: 20)
            #expect(try await stores.claimReconciliation() == nil)
            stores.clock.advance(by: 10)
            #expect(try await stores.claimReconciliation() != nil)
        }
    }

    @Test func `a channel confirmed as gone is replaced, and its refused and next messages use the new`() async throws {
        try await withEvent { stores in
            try await stores.open("other")
            let other = try #require(try await stores.channel(of: "other").channelID)
            stores.clock.advance(by: 60)
            let lost = try await stores.channel()
            let first = try await stores.accept(.update(#"{"n":1}"#, alert: "{}"))
            let claimed = try #require(try await stores.claim().first)
            let second = try await stores.accept(.update(#"{"n":2}"#))
            try await doubt(stores, claimed)
            stores.clock.advance(by: 0.5)
            #expect(try await stores.reconcile([other]).actions.map(\.name) == [.markMissing])
            #expect(try await stores.state(of: first) == .waiting)
            #expect(try await stores.channel().state == .missing)
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.deliveriesNeverDue() == 0)

            stores.clock.advance(by: 1)
            try await stores.provision()
            let replacement = try await stores.channel()
            #expect(replacement.state == .active && replacement.id != lost.id)
            #expect(try await stores.sendOne().text.contains("alert"))
            let sent = try await stores.sendOne()
            #expect(sent.message.channelID == replacement.channelID)
            #expect(sent.text.contains(#"{"n":2}"#))
            #expect(try sent.timestamp > claimed.timestamp)
            #expect(try await stores.delivery(of: second).channelId == replacement.channelID)

            // The channel is in Apple's list after all: devices may follow it, and nobody asked Apple to delete it.
            let again = [other, try #require(lost.channelID), try #require(replacement.channelID)]
            #expect(try await stores.reconcile(again).actions.map(\.name) == [.release])
            let unmanaged = try await stores.unmanaged()
            #expect(unmanaged.map(\.channelID) == [lost.channelID])
            #expect(unmanaged.first?.lackedAt == nil)
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.reconcile(again).actions.isEmpty)
        }
    }

    @Test func `a retired channel that is listed again serves its event if that got no other`() async throws {
        try await withEvent { stores in
            try await stores.open("other")
            let other = try #require(try await stores.channel(of: "other").channelID)
            let lost = try await stores.channel()
            try await stores.accept(.update())
            stores.clock.advance(by: 1)
            try await stores.lose(lost)
            try await stores.align()
            // Another channel is to be created, and Apple was not asked yet.
            #expect(try await stores.channel().id != lost.id)
            stores.clock.advance(by: 1)
            let channelID = try #require(lost.channelID)
            #expect(try await stores.reconcile([other, channelID]).actions.map(\.name) == [.restore])
            #expect(try await stores.claimChannels().isEmpty)
            let back = try await stores.channel(lost.id)
            #expect(back?.state == .active)
            #expect(try await stores.sendOne().message.channelID == channelID)
        }
    }
}
