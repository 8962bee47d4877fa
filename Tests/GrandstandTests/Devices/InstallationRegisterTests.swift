internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// How registrations change what is known, one after the other. Secrets are short texts here.
struct InstallationRegisterTests {
    private typealias Register = InstallationRegister<String>
    private typealias Record = InstallationRecord<String>

    private static let day = 86_400.0
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private static let one = InstallationKey(app: 1, id: UUID())
    private static let two = InstallationKey(app: 1, id: UUID())
    private static let three = InstallationKey(app: 1, id: UUID())

    private static func token(_ hex: String) throws -> DeviceToken { try #require(DeviceToken(hex: hex)) }

    private static func state(
        _ sequence: Int? = nil, tokens: [String: String] = [:], topics: Set<String> = ["team:a"],
        system: String = "18.4"
    ) throws -> InstallationState {
        InstallationState(
            sequence: sequence, systemVersion: try #require(SystemVersion(system)),
            startTokens: try tokens.mapValues { try token($0) },
            topics: Set(try topics.map { try #require(Topic(rawValue: $0)) }))
    }

    private static func record(
        _ state: InstallationState, row: Int = 1, suspectSince: Date? = nil
    ) -> Record {
        Record(
            row: row, secret: "right", state: state,
            tokens: state.startTokens.mapValues {
                RegisteredToken(token: $0, registeredAt: start, suspectSince: suspectSince)
            }, seenAt: start)
    }

    @Test func `a new installation is new once, and a repeated registration changes nothing`() throws {
        var register = Register([:])
        let state = try Self.state(1, tokens: ["Match": "aa"])
        #expect(try register.put(state, of: Self.one, secret: "right", at: Self.start))
        #expect(try !register.put(state, of: Self.one, secret: "right", at: Self.start))
        let changes = register.changes
        #expect(changes.created.map(\.key) == [Self.one])
        #expect(changes.created.first?.record.seenAt == Self.start)
        #expect(changes.newTokens.map(\.type) == ["Match"])
        #expect(changes.followed.map(\.topic.rawValue) == ["team:a"])
        #expect(changes.followers.map(\.key) == [Self.one])
        #expect(changes.updated.isEmpty && changes.oldTokens.isEmpty && changes.unfollowed.isEmpty)
    }

    @Test func `a registration without changes writes nothing, except its row once a day`() throws {
        let state = try Self.state(4, tokens: ["Match": "aa"])
        var register = Register([Self.one: Self.record(state)])
        let soon = Self.start.addingTimeInterval(Self.day - 1)
        #expect(try !register.put(state, of: Self.one, secret: "right", at: soon))
        #expect(register.changed.isEmpty)
        let later = Self.start.addingTimeInterval(Self.day)
        #expect(try !register.put(state, of: Self.one, secret: "right", at: later))
        #expect(register.changed == [Self.one])
        let changes = register.changes
        #expect(changes.updated.map(\.seenAt) == [later])
        #expect(changes.newTokens.isEmpty && changes.followed.isEmpty && changes.followers.isEmpty)
    }

    @Test func `another secret is refused, even in the same batch as the first registration, and changes nothing`()
        throws
    {
        var register = Register([Self.one: Self.record(try Self.state())])
        #expect(throws: Problem.wrongInstallationSecret) {
            try register.put(try Self.state(9), of: Self.one, secret: "wrong", at: Self.start)
        }
        #expect(register.changed.isEmpty)
        _ = try register.put(try Self.state(), of: Self.two, secret: "right", at: Self.start)
        #expect(throws: Problem.wrongInstallationSecret) {
            try register.put(try Self.state(tokens: ["Match": "bb"]), of: Self.two, secret: "wrong", at: Self.start)
        }
        #expect(register.changes.newTokens.isEmpty)
    }

    @Test
    func `a lower sequence is refused, an equal one is accepted, and a registration without one leaves the sequence`()
        throws
    {
        var register = Register([Self.one: Self.record(try Self.state(5))])
        let stale = #expect(throws: Problem.self) {
            try register.put(try Self.state(4), of: Self.one, secret: "right", at: Self.start)
        }
        #expect(stale?.kind == .staleInstallation)
        #expect(register.changed.isEmpty)
        _ = try register.put(try Self.state(5, topics: ["team:b"]), of: Self.one, secret: "right", at: Self.start)
        _ = try register.put(try Self.state(nil, topics: ["team:c"]), of: Self.one, secret: "right", at: Self.start)
        #expect(throws: Problem.self) {
            try register.put(try Self.state(4), of: Self.one, secret: "right", at: Self.start)
        }
        let changes = register.changes
        #expect(changes.followed.map(\.topic.rawValue) == ["team:c"])
        #expect(changes.unfollowed.map(\.topic.rawValue) == ["team:a"])
        // The row of the installation itself did not change.
        #expect(changes.updated.isEmpty)
    }

    @Test func `a higher sequence is stored even if nothing else changed`() throws {
        var register = Register([Self.one: Self.record(try Self.state(5))])
        _ = try register.put(try Self.state(6), of: Self.one, secret: "right", at: Self.start)
        #expect(register.changes.updated.map(\.details.sequence) == [6])
        #expect(register.changes.followers.isEmpty)
    }

    @Test func `a token keeps its time of registration until it changes or is refused`() throws {
        let later = Self.start.addingTimeInterval(60)
        var register = Register([Self.one: Self.record(try Self.state(tokens: ["A": "aa", "B": "bb", "C": "cc"]))])
        _ = try register.put(
            try Self.state(tokens: ["A": "aa", "B": "b0"]), of: Self.one, secret: "right", at: later)
        let changes = register.changes
        #expect(changes.oldTokens.map(\.type) == ["B", "C"])
        #expect(changes.newTokens.map(\.type) == ["B"])
        #expect(changes.newTokens.first?.token.registeredAt == later)

        let state = try Self.state(tokens: ["A": "aa"])
        var refused = Register([Self.one: Self.record(state, suspectSince: Self.start)])
        _ = try refused.put(state, of: Self.one, secret: "right", at: later)
        #expect(
            refused.changes.newTokens.map(\.token) == [
                RegisteredToken(token: try Self.token("aa"), registeredAt: later)
            ])
        #expect(refused.changes.followers.map(\.key) == [Self.one])
    }

    @Test func `too many different tokens are refused and change nothing, and equal ones do not count`() throws {
        var register = Register([Self.one: Self.record(try Self.state(tokens: ["A": "aa"]))])
        func put(_ token: Int, at now: Date = Self.start) throws {
            _ = try register.put(
                try Self.state(tokens: ["A": format(token)], topics: ["team:\(token)"]), of: Self.one,
                secret: "right", at: now)
        }
        func format(_ token: Int) -> String { token < 10 ? "0\(token)" : "\(token)" }
        for token in 0..<TokenPace.burst {
            try put(token)
            try put(token)
        }
        let known = register.changes
        let refused = #expect(throws: Problem.self) { try put(TokenPace.burst) }
        #expect(refused?.kind == .rateLimited)
        #expect(register.changes.newTokens.map(\.token) == known.newTokens.map(\.token))
        #expect(register.changes.followed.map(\.topic) == known.followed.map(\.topic))
        try put(TokenPace.burst, at: Self.start.addingTimeInterval(TokenPace.interval))
        #expect(register.changes.updated.first?.tokensPacedUntil != nil)
    }

    @Test func `a token belongs to one installation, which takes over the starts that earlier owners were sent`() throws
    {
        let state = try Self.state(tokens: ["A": "aa"])
        var register = Register([Self.one: Self.record(state)])
        _ = try register.put(state, of: Self.two, secret: "2", at: Self.start)
        _ = try register.put(state, of: Self.three, secret: "3", at: Self.start)
        let changes = register.changes
        #expect(changes.oldTokens.map(\.row) == [1])
        #expect(changes.newTokens.map(\.key) == [Self.three])
        #expect(
            Set(changes.takeovers) == [
                .init(app: 1, from: Self.one.id, to: Self.two.id), .init(app: 1, from: Self.one.id, to: Self.three.id),
                .init(app: 1, from: Self.two.id, to: Self.three.id),
            ])
    }

    @Test func `a token of another type or app, or one that was released, is taken from no installation`() throws {
        let elsewhere = InstallationKey(app: 2, id: UUID())
        var register = Register([Self.one: Self.record(try Self.state(tokens: ["A": "aa"]))])
        _ = try register.put(try Self.state(tokens: ["B": "aa"]), of: Self.two, secret: "2", at: Self.start)
        _ = try register.put(try Self.state(tokens: ["A": "aa"]), of: elsewhere, secret: "3", at: Self.start)
        _ = try register.put(try Self.state(tokens: [:]), of: Self.one, secret: "right", at: Self.start)
        _ = try register.put(try Self.state(tokens: ["A": "aa"]), of: Self.three, secret: "4", at: Self.start)
        #expect(register.changes.takeovers.isEmpty)
    }

    @Test(arguments: [
        ("18.4", ["team:a", "team:b"], true), ("17.2", ["team:a"], true), ("17.1", ["team:b"], false),
    ])
    func `an installation whose topics or system changed is a late follower if it can get starts`(
        system: String, topics: [String], isFollower: Bool
    ) throws {
        var register = Register([Self.one: Self.record(try Self.state())])
        _ = try register.put(
            try Self.state(topics: Set(topics), system: system), of: Self.one, secret: "right", at: Self.start)
        #expect(register.changes.followers.isEmpty == !isFollower)
        var language = try Self.state()
        language.locale = "de"
        var other = Register([Self.one: Self.record(try Self.state())])
        _ = try other.put(language, of: Self.one, secret: "right", at: Self.start)
        #expect(other.changes.followers.isEmpty)
    }

    /// Registrations in one batch have the same effect as registrations one after the other.
    @Test func `a batch has the same result as its requests one by one`() throws {
        var random = SplitMix64(state: 7)
        let keys = [Self.one, Self.two, Self.three]
        for _ in 0..<200 {
            var single: [InstallationKey: Record] = [:]
            var many: [InstallationKey: Record] = [:]
            for step in 0..<12 {
                var batch = Register(many)
                for _ in 0..<3 {
                    let state = try Self.state(
                        Int.random(in: 0..<6, using: &random),
                        tokens: random.chance(0.3) ? [:] : ["A": random.pick(["aa", "bb", "cc"])],
                        topics: [random.pick(["team:a", "team:b"])])
                    let key = random.pick(keys)
                    let secret = random.chance(0.1) ? "wrong" : "right"
                    let now = Self.start.addingTimeInterval(Double(step))
                    var alone = Register(single)
                    let one = Result { () throws(Problem) in try alone.put(state, of: key, secret: secret, at: now) }
                    let other = Result { () throws(Problem) in try batch.put(state, of: key, secret: secret, at: now) }
                    #expect(one == other)
                    Self.apply(alone.changes, to: &single)
                }
                Self.apply(batch.changes, to: &many)
                #expect(many.mapValues(\.state) == single.mapValues(\.state))
                #expect(many.mapValues(\.tokens) == single.mapValues(\.tokens))
            }
        }
    }

    /// Applies to records what the SQL statements apply to rows.
    private static func apply(_ changes: InstallationChanges<String>, to stored: inout [InstallationKey: Record]) {
        func key(_ row: Int) -> InstallationKey? { stored.first { $0.value.row == row }?.key }
        for (key, record) in changes.created {
            var new = record
            new.row = stored.count + 1
            new.tokens = [:]
            new.details.topics = []
            stored[key] = new
        }
        for record in changes.updated {
            guard let row = record.row, let key = key(row), let old = stored[key] else { continue }
            var new = record
            (new.tokens, new.details.topics) = (old.tokens, old.details.topics)
            stored[key] = new
        }
        for (row, type, _) in changes.oldTokens { key(row).map { stored[$0]?.tokens[type] = nil } }
        for (key, type, token) in changes.newTokens { stored[key]?.tokens[type] = token }
        for (row, topic) in changes.unfollowed {
            if let key = key(row) { stored[key]?.details.topics.remove(topic) }
        }
        for (key, topic) in changes.followed { stored[key]?.details.topics.insert(topic) }
    }
}
