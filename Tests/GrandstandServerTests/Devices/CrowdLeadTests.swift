internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// An audience's messages to its channel and to its tokens: its content, its end and its timestamps are the same.
@Suite(.timeLimit(.minutes(20)))
struct CrowdLeadTests {
    /// More bytes than a push to a token may have, but not more than a message to a channel may have.
    private static let large = #"{"t":"\#(String(repeating: "x", count: 4_200))"}"#

    @Test func `dismissed activities neither get nor reject a message, and an end ends their event`() async throws {
        try await withCrowd([]) { world in
            try await world.stores.accept(.update())
            try await world.show("aa01")
            try await world.stores.pool.query("update activities set state = 'dismissed'")
            #expect(try await world.claim().isEmpty)
            #expect(try await world.waiting() == 0)
            #expect(try await world.nextDue() == nil)
            let accepted = try await world.stores.accept(.update(Self.large))
            #expect(accepted.deliveries.map { $0.counts == nil } == [true])
            #expect(try await world.claim().isEmpty)
            try await world.stores.accept(.end())
            #expect(try await world.stores.event()?.state == .ended)
            #expect(try await world.stores.lookup()?.state == .ended)
        }
    }

    @Test func `a message too large for tokens is rejected only for audiences with members`() async throws {
        try await withCrowds { world in
            let audiences = [try Audience.sample(), try Audience.sample("com.example.Other")]
            try await world.stores.open(audiences: audiences)
            let scheduled = try await world.stores.accept(
                .update(Self.large, sendAt: world.now + 60, audiences: [audiences[0].id]))
            try await world.show("aa01")
            let all = try await world.stores.accept(.update(Self.large))
            #expect(all.deliveries.count(where: { $0.state == .rejected }) == 1 && all.warnings.count == 2)
            let other = try await world.stores.accept(.update(Self.large, audiences: [audiences[1].id]))
            #expect(other.deliveries.allSatisfy { $0.state == .queued } && other.warnings.count == 1)
            for claimed in try await world.stores.claim() { try await world.stores.settle(claimed, .ok) }

            // At its time a scheduled broadcast goes to the channel, even if a new crowd cannot take it.
            world.stores.clock.advance(by: 60)
            #expect(try await world.stores.promote() == 1)
            let tokens = try await world.tokens(of: scheduled)
            #expect((tokens.state, tokens.reason) == (.rejected, "PayloadTooLarge"))
            try await world.stores.sendOne()
            #expect(try await world.stores.read(scheduled)?.state != .cancelled)
            #expect(try await world.claim().isEmpty)
        }
    }

    @Test func `an audience that changes to tokens keeps its waiting messages, content and order`() async throws {
        try await withCrowds { world in
            // There is no channel.
            try await world.stores.put(.sample())
            let accepted = try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.reach(by: .tokens)
            try await refuses(.payloadTooLarge) { try await world.stores.accept(.update(Self.large)) }
            let found = try #require(try await world.stores.read(accepted))
            #expect(found.deliveries.map(\.state) == [.queued])
            #expect(try await world.stores.shown() == #"{"n":1}"#)
            try await world.show("aa01")
            #expect(try await world.push().text.contains(#"{"n":1}"#))
            #expect(try await world.tokens(of: accepted).state == .accepted)
            // The audience goes back to its channel.
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            try await world.reach(by: .channel)
            #expect(try await world.stores.shown() == #"{"n":2}"#)
            #expect(try await world.stores.withdraw(second) == true)
            #expect(try await world.stores.shown() == #"{"n":1}"#)
            try await world.stores.provision()
            try await world.stores.accept(.update(#"{"n":3}"#))
            let sent = try await world.stores.sendOne()
            #expect(try sent.timestamp > Int(world.now.timeIntervalSince1970))
        }
    }

    @Test func `an end that waited for the channel ends the crowd, and leaves nothing behind`() async throws {
        try await withCrowds { world in
            try await world.stores.put(.sample(audiences: [try .sample(), try .sample("com.example.Other")]))
            try await world.stores.accept(.end(audiences: [try .sample()]))
            var tokens = try Audience.sample()
            tokens.delivery = .tokens
            try await world.stores.put(.sample(audiences: [tokens, try .sample("com.example.Other")]))
            #expect(try await world.stores.lookup()?.state == .ended)
            try await refuses(.eventEnded) { try await world.stores.accept(.update(audiences: [try .sample()])) }
            try await world.stores.cancel()
            #expect(try await world.stores.rows("deliveries where settled_at is null") == 0)
        }
    }

    @Test func `a broadcast that a late member got cannot be withdrawn, even if it waits elsewhere`() async throws {
        try await withCrowds { world in
            try await world.stores.put(.sample())
            let accepted = try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.show("aa01")
            #expect(try await world.claim().first?.members.count == 1)
            #expect(try await world.stores.withdraw(accepted) == false)
        }
    }

    /// A new activity joins and gets this content.
    private func join(_ token: String, _ world: CrowdWorld, gets text: String) async throws {
        try await world.show(token)
        #expect(try await world.push().text.contains(text))
    }

    private func send(_ text: String, _ world: CrowdWorld) async throws {
        world.stores.clock.advance(by: 2)
        try await world.stores.accept(.update(text))
        for claimed in try await world.stores.claim() { try await world.stores.settle(claimed, .ok) }
        try await world.sendAll()
    }

    // MARK: Another audience leads

    @Test(arguments: [[nil, "de"], ["fr", "de"], ["fr"], [nil]] as [[String?]])
    func `an audience added later for a crowd's activities knows the content that they got`(names: [String?])
        async throws
    {
        try await withCrowds { world in
            try await world.stores.open(audiences: [.sample(variant: "de")])
            try await world.show("aa01")
            try await send(#"{"n":1}"#, world)
            try await world.stores.put(.sample(audiences: names.map { try .sample(variant: $0) }))
            try await join("aa02", world, gets: #"{"n":1}"#)
            // A message that is sent and withdrawn leaves the crowd's content unchanged.
            world.stores.clock.advance(by: 2)
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            #expect(try await world.stores.withdraw(second) == true)
            try await join("aa03", world, gets: #"{"n":1}"#)
            try await send(#"{"n":3}"#, world)
            try await join("aa04", world, gets: #"{"n":3}"#)
        }
    }

    // MARK: Opened again

    @Test(arguments: [false, true])
    func `content that a crowd got stays the newest, even if the delivery by channel was cancelled`(sendsEnd: Bool)
        async throws
    {
        try await withCrowds { world in
            try await world.stores.put(.sample())
            try await world.show("aa01")
            let accepted = try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.sendAll()
            #expect(try await world.tokens(of: accepted).state == .accepted)
            world.stores.clock.advance(by: 2)
            try await world.stores.events.cancel(
                .sample(), sendingEnd: sendsEnd, within: .all, by: .server, if: .none, now: world.now)
            _ = try await world.stores.events.reopen(.sample(), audiences: nil, now: world.now)
            #expect(try await world.stores.shown() == #"{"n":1}"#)
            world.stores.clock.advance(by: 2)
            try await join("aa02", world, gets: #"{"n":1}"#)
        }
    }
}

/// Tokens come and change while replicas send updates and alerts to them, and die between any two statements. A phone
/// never shows older content after newer, no alert rings twice, and in the end all phones show the newest content.
@Suite(.timeLimit(.minutes(20)))
struct CrowdPropertyTests {
    private struct Phone {
        /// The number of its activity's row.
        let activity: Int
        var token: String
        var timestamp = 0
        var content = 0
        var rang: [Int] = []
    }

    private struct Model {
        let world: CrowdWorld
        var random: SplitMix
        var phones: [Phone] = []
        var sent: [CrowdWorld.Sent] = []
        /// The number of accepted messages. Each has its number as its content and as its alert.
        var accepted = 0
        private var tokens = 0

        init(_ world: CrowdWorld, seed: UInt64) {
            self.world = world
            random = SplitMix(seed: seed)
        }

        private mutating func token() -> String {
            tokens += 1
            return "aa" + String(tokens + 0x1000, radix: 16)
        }

        mutating func step() async throws {
            switch random.next(below: 14) {
            case 0:
                let token = token()
                let frequent = random.next(below: 3) > 0
                phones.append(Phone(activity: try await world.show(token, frequent: frequent), token: token))
            case 1 where !phones.isEmpty, 2 where !phones.isEmpty: try await changeToken()
            case 3:
                accepted += 1
                let alert = random.next(below: 2) == 0 ? #"{"title":"\#(accepted)"}"# : nil
                try await world.stores.accept(.update(#"{"n":\#(accepted)}"#, alert: alert))
            case 4, 5, 6, 7: try await send()
            case 8 where !sent.isEmpty, 9 where !sent.isEmpty, 10 where !sent.isEmpty:
                try await world.settle(sent.remove(at: random.next(below: sent.count)))
            // Replicas died: their leases end. What they learned may still come late.
            case 11: world.stores.clock.advance(by: 11)
            default: world.stores.clock.advance(by: 1)
            }
        }

        private mutating func changeToken() async throws {
            let index = random.next(below: phones.count)
            phones[index].token = token()
            let (activity, token) = (phones[index].activity, phones[index].token)
            try await world.stores.pool.withConnection { try await world.join(activity, token: token, on: $0) }
        }

        /// Claims and sends. A token may change between the two. Each push reaches its phone, or APNs does not take it, or no answer comes.
        private mutating func send() async throws {
            let replica = UUID()
            for shard in try await world.claim(size: 3, by: replica) {
                if random.next(below: 2) == 0 { try await changeToken() }
                let (pushes, arrived) = world.sent(shard, by: replica, &random)
                for member in arrived { arrive(shard, member) }
                sent.append(pushes)
            }
        }

        /// A push to a former token reaches nobody. A phone drops a push whose timestamp is not higher.
        private mutating func arrive(_ shard: Shard, _ member: Shard.Member) {
            func number(after key: String) -> Int? {
                shard.text.firstRange(of: key).flatMap { Int(shard.text[$0.upperBound...].prefix { $0.isNumber }) }
            }
            for index in phones.indices where phones[index].token == member.token.hex {
                guard let timestamp = number(after: #""timestamp":"#), timestamp > phones[index].timestamp,
                    let content = number(after: #"{"n":"#)
                else { continue }
                #expect(content >= phones[index].content, "older content came after newer")
                (phones[index].timestamp, phones[index].content) = (timestamp, content)
                guard let alert = number(after: #"{"title":""#) else { continue }
                #expect(!phones[index].rang.contains(alert), "alert \(alert) rang twice")
                phones[index].rang.append(alert)
            }
        }

        /// Lets everything come to its end: all leases end, and every push that is left is accepted.
        mutating func finish() async throws {
            for late in sent { try await world.settle(late) }
            for _ in 0..<60 {
                world.stores.clock.advance(by: 11)
                for shard in try await world.claim() {
                    for member in shard.members { arrive(shard, member) }
                    try await world.settle(shard)
                }
            }
        }
    }

    @Test(arguments: 1...6)
    func `whoever dies, no alert rings twice, and all get the newest content in the end`(seed: Int) async throws {
        try await withCrowd([]) { world in
            var model = Model(world, seed: UInt64(seed))
            for _ in 0..<100 { try await model.step() }
            try await model.finish()
            #expect(model.phones.allSatisfy { $0.content == model.accepted }, "\(model.phones)")
            #expect(try await world.claim().isEmpty)
            #expect(try await world.nextDue() == nil)
        }
    }
}
