internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// A start is sent to a token, and another installation registers this token meanwhile or later. Both installations are
/// one phone (also `StartPropertyTests`).
struct StartTakeoverTests {
    /// Registers an installation with a token, as its app does.
    ///
    /// - Returns: its row.
    private static func register(_ token: String, in world: StartWorld) async throws -> Int {
        let (id, phones) = (try Phones.id(), Phones(world.stores))
        try await phones.put(Phones.state(token: token, topics: ["team:rapid"]), of: id)
        return try await phones.row(id)
    }

    @Test(arguments: [true, false], [true, false])
    func `who logs out and in again with the same token gets no second card`(deletes: Bool, ends: Bool) async throws {
        try await withStarts(followers: 0) { world, _ in
            let (id, phones) = (try Phones.id(), Phones(world.stores))
            try await phones.put(Phones.state(topics: ["team:rapid"]), of: id)
            #expect(try await world.sendAll().count == 1)
            if ends {
                // The end is a mistake.
                try await world.stores.accept(.end())
                world.stores.clock.advance(by: 61)
                try await world.sendAll()
            }
            if deletes { try await phones.store.forget(id, secret: Phones.secret) }
            if !deletes { try await phones.put(Phones.state(token: nil, topics: []), of: id) }
            let new = try await Self.register("aa", in: world)
            let other = try await Self.register("bb", in: world)
            if ends {
                let reopening = try await world.stores.events.reopen(.sample(), audiences: nil, now: world.now)
                #expect(reopening.warnings.last?.contains("or may have got it: ") == true)
            }
            #expect(try await world.sendAll() == [other])
            #expect(try await world.states()[new] == "accepted")
            #expect(try await world.counts().accepted == 3)
        }
    }

    // MARK: Effects on other installations

    @Test func `an uncommitted registration that takes over a token blocks no claim`() async throws {
        try await withStarts(followers: 0) { world, _ in
            let first = try await Self.register("aa", in: world)
            #expect(try await world.sendAll() == [first])
            let follower = try await world.follow(late: true)
            // The last step of the registration waits for the commit of another transaction.
            let registering = try await world.stores.pool.transaction { connection in
                try await connection.query(
                    """
                    insert into starts (run, installation, state, at)
                    select id, (select last_value + 1 from installations_id_seq), 'unknown', now() from start_runs
                    """)
                let registering = Task { try await Self.register("aa", in: world) }
                try await world.stores.untilSomebodyWaits()
                #expect(try await world.claim().first?.members.map(\.row) == [follower])
                return registering
            }
            _ = try await registering.value
        }
    }

    @Test func `an installation that takes over a token while the start is stopped gets none later`() async throws {
        try await withStarts(followers: 0) { world, _ in
            let old = try await Self.register("aa", in: world)
            #expect(try await world.sendAll() == [old])
            try await world.stop()
            try await world.sendAll()
            let new = try await Self.register("aa", in: world)
            try await world.ask()
            #expect(try await world.sendAll().isEmpty)
            #expect(try await world.states() == [old: "accepted", new: "accepted"])
        }
    }
}

/// Activities on a channel that was replaced.
struct StartRestartTests {
    /// An activity as its app reported it.
    private func report(
        _ installation: Int, state: String = "active", channel: String? = nil, token: String? = nil, _ world: StartWorld
    ) async throws {
        try await world.stores.pool.query(
            """
            insert into activities (installation, activity, app, event_key, attributes_type, state, channel_id,
                update_token, registered_at, reported_at, first_reported_at)
            select id, 'one', app, 'match-1', 'MatchAttributes', \(state)::activity_state, \(channel),
                decode(\(token), 'hex'), \(world.now), \(world.now), \(world.now)
            from installations where id = \(installation)
            on conflict (installation, activity) do update set state = excluded.state
            """)
    }

    private func loseChannel(_ world: StartWorld) async throws {
        try await world.stores.pool.query("update channels set state = 'missing' where state = 'active'")
        try await world.stores.provision()
    }

    private func declare(restarts: Bool, _ world: StartWorld) async throws {
        var start = StartWorld.start(at: world.now)
        start.restart = restarts
        try await world.open(start: start)
    }

    @Test func `after a channel was replaced its listeners, and nobody else, are started again once`() async throws {
        try await withStarts { world in
            try await declare(restarts: true, world)
            let old = try #require(try await world.stores.channel().channelID)
            let followers = try await world.followers(5) + [world.follow(system: "17.5")]
            #expect(try await world.sendAll() == followers)
            try await report(followers[0], world)
            try await report(followers[1], channel: old, world)
            try await report(followers[2], state: "dismissed", world)
            try await report(followers[3], token: "aa01", world)
            // The fifth app reports nothing. The sixth reports an activity, but its phone does not support channels.
            try await report(followers[5], world)
            world.stores.clock.advance(by: 10)
            try await loseChannel(world)
            #expect(try await world.stores.rows("channels where state = 'active'") == 1)

            let shard = try await world.push()
            #expect(shard.members.map(\.row) == [followers[0], followers[1]] && !shard.text.contains(old))
            // One app has reported the end of its old activity, the other has not yet.
            try await report(followers[0], state: "dismissed", world)
            #expect(try await world.sendAll().isEmpty)
            let report = try await world.report()
            #expect(report.state == .done && report.counts.accepted == 6)

            // An activity that was started again is older than the next channel, so it is started once more. An
            // activity that has ended is not started again.
            world.stores.clock.advance(by: 10)
            try await loseChannel(world)
            #expect(try await world.sendAll() == [followers[1]])
        }
    }

    @Test func `without the organiser's permission, or with the first channel, nobody is started again`() async throws {
        try await withStarts { world in
            try await declare(restarts: false, world)
            let follower = try await world.follow()
            #expect(try await world.sendAll() == [follower])
            try await report(follower, world)
            world.stores.clock.advance(by: 10)
            try await loseChannel(world)
            #expect(try await world.sendAll().isEmpty)
        }
    }
}

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

    private struct Model {
        let world: StartWorld
        var random: SplitMix
        var phones: [Phone] = []
        var sent: [StartWorld.Sent] = []
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
            try await Phones(world.stores).put(
                Phones.state(token: phones[index].token, topics: ["team:rapid"]), of: phones[index].id)
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
                try await world.settle(sent.remove(at: random.next(below: sent.count)))
            // Replicas died: their leases end. What they learned may still come late.
            case 10: world.stores.clock.advance(by: 11)
            default: world.stores.clock.advance(by: 1)
            }
        }

        private func isReached(_ phone: Int, by sent: StartWorld.Sent) -> Bool {
            sent.shard.members.contains { $0.token.hex == phones[phone].token }
        }

        /// Claims and sends. Each push reaches its phone, or APNs refuses it, or no answer comes.
        private mutating func send() async throws {
            // A replica that lives sends two shards at a time. The others die after one.
            let replica = random.next(below: 2) == 0 ? world.stores.replica : UUID()
            let holding = sent.filter { $0.replica == replica }.map(\.shard.owner)
            for shard in try await world.claim(size: 1 + random.next(below: 4), by: replica, holding: holding) {
                let (pushes, arrived) = world.sent(shard, by: replica, &random)
                for member in arrived { arrive(member) }
                sent.append(pushes)
            }
        }

        private mutating func arrive(_ member: Shard.Member) {
            for index in phones.indices where phones[index].token == member.token.hex { phones[index].cards += 1 }
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
            for late in sent { try await world.settle(late) }
        }
    }

    @Test(arguments: 1...12)
    func `whoever dies, no phone gets two cards, and each gets one or is counted as unknown`(seed: Int) async throws {
        try await withStarts(followers: 0) { world, _ in
            var model = Model(world, seed: UInt64(seed))
            for _ in 0..<80 { try await model.step() }
            try await model.finish()
            let states = try await world.states()
            for phone in model.phones {
                let state = states[try await Phones(world.stores).row(phone.id)]
                #expect(phone.cards <= 1, "\(phone)")
                #expect(phone.cards == 1 || state == "unknown", "\(phone): \(state ?? "none")")
            }
            let report = try await world.report()
            #expect(report.state == .done && report.counts.pending == 0)
        }
    }
}
