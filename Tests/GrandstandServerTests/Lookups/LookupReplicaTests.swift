internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import JSON
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// A replica's memory while nobody keeps it up to date and the database is away.
struct LookupReplicaTests {
    private static let topic = "com.example.goal"
    private let clock = ManualClock()

    /// A replica that knows the event `derby` with the channel `one`.
    private func replica(listAge: Duration = .seconds(3_600)) throws -> LookupReplica {
        let replica = LookupReplica(
            store: LookupStore(database: TestDatabase.away.database),
            settings: .init(patience: .milliseconds(1), listAge: listAge), now: { [clock] in clock.now })
        replica.put(try name().key, [record("one")])
        replica.state.withLock { $0.confirmedAt = clock.now }
        return replica
    }

    private func name(_ key: String = "derby") throws -> LookupName {
        LookupName(topic: Self.topic, environment: .production, key: try .sample(key))
    }

    private func record(_ channelID: String) -> LookupRecord {
        LookupRecord(
            topic: Self.topic, environment: .production, storagePolicy: .noMessageStored, channelID: channelID,
            listing: LookupRecord.Listing(name: "Match"))
    }

    @Test
    func
        `while the database is down known events are answered with their age for a limited time, and unknown ones are not`()
        async throws
    {
        let replica = try replica()
        let (known, unknown) = (try name(), try name("cup"))
        #expect(replica.known(known)?.freshness == .confirmed)
        // Within the time of two seconds that needs no confirmation, too, nobody knows whether an event exists.
        #expect(await replica.answers(to: [unknown]).map(\.freshness) == [.unknown])
        clock.advance(by: 30)
        #expect(replica.known(known)?.freshness == .stale(seconds: 30))
        let replies = await replica.answers(to: [known, unknown])
        #expect(replies.map(\.freshness) == [.stale(seconds: 30), .unknown])
        #expect(replies[0].answer?.lookup?.channelId == "one")
        clock.advance(by: 571)
        #expect(replica.known(known) == nil)
        #expect(await replica.answers(to: [known]).map(\.freshness) == [.unknown])
    }

    @Test func `if the database cannot be read since a change, older answers are marked as stale`() async throws {
        let replica = try replica()
        let (known, made) = (try name(), try name("cup"))
        let app = LookupList.App(topic: Self.topic, environment: .production)
        let before = try await replica.page(LookupListQuery(), of: app, uri: "a")
        #expect(before.freshness == .confirmed)
        #expect(replica.knownPage("a")?.body == before.body)
        replica.changed(["event derby", "event cup"])
        #expect(replica.known(known) == nil)
        #expect(replica.knownPage("a") == nil)
        let replies = await replica.answers(to: [known, made])
        #expect(replies.map(\.freshness) == [.stale(seconds: 2), .unknown])
        #expect(replies[0].answer?.lookup?.channelId == "one")
        #expect(try await replica.page(LookupListQuery(), of: app, uri: "a").freshness == .stale(seconds: 2))
    }

    @Test(arguments: [(Duration.seconds(3_600), "one"), (.zero, "two")])
    func `a list has the documented bytes, and is used for a limited time`(age: Duration, later: String) async throws {
        let replica = try replica(listAge: age)
        let app = LookupList.App(topic: Self.topic, environment: .production)
        for channelID in ["one", later] {
            let body = try await replica.page(LookupListQuery(), of: app, uri: "a").body
            #expect(
                String(decoding: body.bytes, as: UTF8.self)
                    == #"{"items":[{"eventKey":"derby","channelId":"\#(channelID)","storagePolicy":"noMessageStored","#
                    + #""state":"scheduled","startsAt":null,"endsAt":null,"name":"Match","kind":null,"topics":[]}],"#
                    + #""nextCursor":null}"#)
            replica.put(try name().key, [record("two")])
        }
    }
}

extension LookupAnswer {
    /// The body of an answer that was found.
    var lookup: Contract.Lookup? {
        guard case .found(let body) = self else { return nil }
        return try? JSONValue(decoding: body.bytes).decode(Contract.Lookup.self)
    }
}
