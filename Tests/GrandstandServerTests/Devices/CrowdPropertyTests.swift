internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

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

    /// A claimed shard, with the verdicts of its pushes, which were sent.
    private struct Sent {
        let shard: CrowdShard
        let replica: UUID
        let verdicts: [Int: TokenVerdict?]
    }

    private struct Model {
        let world: CrowdWorld
        var random: SplitMix
        var phones: [Phone] = []
        var sent: [Sent] = []
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
                try await settle(sent.remove(at: random.next(below: sent.count)))
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
                var verdicts: [Int: TokenVerdict?] = [:]
                if random.next(below: 2) == 0 { try await changeToken() }
                for member in shard.members {
                    let verdict: TokenVerdict? =
                        switch random.next(below: 8) {
                        case 0: .retry(at: world.now + 2, reason: "TooManyRequests")
                        case 1: .unknown(reason: "timeout")
                        case 2: nil
                        default: .accepted
                        }
                    switch verdict {
                    case .accepted: arrive(shard, member)
                    case .unknown where random.next(below: 2) == 0: arrive(shard, member)
                    default: break
                    }
                    verdicts[member.row] = .some(verdict)
                }
                sent.append(Sent(shard: shard, replica: replica, verdicts: verdicts))
            }
        }

        /// A push to a former token reaches nobody. A phone drops a push whose timestamp is not higher.
        private mutating func arrive(_ shard: CrowdShard, _ member: CrowdShard.Member) {
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

        private func settle(_ sent: Sent) async throws {
            try await world.settle(sent.shard, by: sent.replica) { sent.verdicts[$0.row] ?? nil }
        }

        /// Lets everything come to its end: all leases end, and every push that is left is accepted.
        mutating func finish() async throws {
            for late in sent { try await settle(late) }
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
        try await withCrowds { world in
            try await world.stores.open()
            var model = Model(world, seed: UInt64(seed))
            for _ in 0..<100 { try await model.step() }
            try await model.finish()
            #expect(model.phones.allSatisfy { $0.content == model.accepted }, "\(model.phones)")
            #expect(try await world.claim().isEmpty)
            #expect(try await world.crowds.nextDue(in: .production) == nil)
        }
    }
}
