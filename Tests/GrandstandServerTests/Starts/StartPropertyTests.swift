internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Phones register, reinstall the app and get other tokens while replicas send a start and die between any two
/// statements. No phone gets two cards, and in the end each phone has one, or is counted as `unknown`.
@Suite(.timeLimit(.minutes(20)))
struct StartPropertyTests {
    private struct Phone {
        /// The installation that its app is now; a reinstalled app is another one.
        var id: InstallationID
        var token = ""
        /// Pushes that reached the phone.
        var cards = 0
    }

    /// A claimed shard, with the verdicts of its pushes, which were sent.
    private struct Sent {
        let shard: StartShard
        let replica: UUID
        let verdicts: [Int: TokenVerdict?]
    }

    private struct Model {
        let world: StartWorld
        var random: SplitMix
        var phones: [Phone] = []
        var sent: [Sent] = []
        private var tokens = 0

        init(_ world: StartWorld, seed: UInt64) {
            self.world = world
            random = SplitMix(seed: seed)
        }

        /// Registers a phone as its app is now: the app has a new token, or was installed anew.
        private mutating func register(_ index: Int, token: Bool = false, app: Bool = false) async throws {
            if token {
                tokens += 1
                phones[index].token = "aa" + String(tokens + 0x1000, radix: 16)
            }
            if app { phones[index].id = try Phones.id() }
            _ = try await InstallationStore(Database(world.stores.pool)).put(
                Phones.state(token: phones[index].token, topics: ["team:rapid"]), of: phones[index].id,
                secret: Phones.secret, now: world.now)
        }

        mutating func step() async throws {
            let index = phones.isEmpty ? 0 : random.next(below: phones.count)
            switch random.next(below: 12) {
            case 0, 1, 2:
                phones.append(Phone(id: try Phones.id()))
                try await register(phones.count - 1, token: true)
            case 3 where !phones.isEmpty: try await register(index, app: true)
            // APNs knows only the newest token, so a push to the former one would reach nobody.
            case 4 where !phones.isEmpty && !sent.contains(where: { isReached(index, by: $0) }):
                try await register(index, token: true)
            case 5, 6, 7: try await send()
            case 8 where !sent.isEmpty, 9 where !sent.isEmpty:
                try await settle(sent.remove(at: random.next(below: sent.count)))
            // Replicas died: their leases end. What they learned may still come late.
            case 10: world.stores.clock.advance(by: 11)
            default: world.stores.clock.advance(by: 1)
            }
        }

        private func isReached(_ phone: Int, by sent: Sent) -> Bool {
            sent.shard.members.contains { $0.token.hex == phones[phone].token }
        }

        /// Claims and sends. Each push reaches its phone, or APNs refuses it, or no answer comes.
        private mutating func send() async throws {
            // A replica that lives sends two shards at a time. The others die after one.
            let replica = random.next(below: 2) == 0 ? world.stores.replica : UUID()
            let holding = sent.filter { $0.replica == replica }.map(\.shard.run)
            for shard in try await world.claim(by: replica, shardSize: 1 + random.next(below: 4), holding: holding) {
                var verdicts: [Int: TokenVerdict?] = [:]
                for member in shard.members {
                    let verdict: TokenVerdict? =
                        switch random.next(below: 6) {
                        case 0: .retry(at: world.now + 1, reason: "TooManyRequests")
                        case 1: .unknown(reason: "timeout")
                        case 2: nil
                        default: .accepted
                        }
                    if let state = verdict.flatMap(StartState.init), state != .rejected { arrive(member) }
                    verdicts[member.installation] = .some(verdict)
                }
                sent.append(Sent(shard: shard, replica: replica, verdicts: verdicts))
            }
        }

        private mutating func arrive(_ member: StartShard.Member) {
            for index in phones.indices where phones[index].token == member.token.hex { phones[index].cards += 1 }
        }

        private func settle(_ sent: Sent) async throws {
            try await world.settle(sent.shard, by: sent.replica) { sent.verdicts[$0.installation] ?? nil }
        }

        /// Lets everything come to its end: all leases end, and every push that is left is accepted.
        mutating func finish() async throws {
            world.stores.clock.advance(by: 60)
            for _ in 0..<20 {
                for shard in try await world.claim() {
                    for member in shard.members { arrive(member) }
                    try await world.settle(shard)
                }
                world.stores.clock.advance(by: 1)
            }
            for late in sent { try await settle(late) }
        }
    }

    @Test(arguments: 1...6)
    func `whoever dies, no phone gets two cards, and each gets one or is counted as unknown`(seed: Int) async throws {
        try await withStarts { world in
            try await world.open()
            var model = Model(world, seed: UInt64(seed))
            for _ in 0..<80 { try await model.step() }
            try await model.finish()
            let states = try await world.states()
            for phone in model.phones {
                let rows = try await world.stores.pool.query(
                    "select id from installations where installation = \(phone.id.id)")
                let state = try states[#require(rows.first).decode("id")]
                #expect(phone.cards <= 1, "\(phone)")
                #expect(phone.cards == 1 || state == "unknown", "\(phone): \(state ?? "none")")
            }
            let report = try await world.report()
            #expect(report.state == .done && report.counts.pending == 0)
        }
    }
}
