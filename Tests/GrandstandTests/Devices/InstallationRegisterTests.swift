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

    /// A register in which installation `one` has this state, and its changes after installation `one` has registered
    /// another state.
    private static func changes(
        from old: InstallationState, to new: InstallationState, suspectSince: Date? = nil, after seconds: Double = 60
    ) throws -> InstallationChanges<String> {
        var register = Register([one: record(old, suspectSince: suspectSince)])
        let isNew = try register.put(new, of: one, secret: "right", at: start.addingTimeInterval(seconds))
        #expect(!isNew)
        return register.changes
    }

    @Test func `a new installation is new once, and a repeated registration changes nothing`() throws {
        var register = Register([:])
        let state = try Self.state(1, tokens: ["Match": "aa"])
        #expect(try register.put(state, of: Self.one, secret: "right", at: Self.start))
        #expect(try !register.put(state, of: Self.one, secret: "right", at: Self.start))
        let changes = register.changes
        #expect(changes.created.map(\.key) == [Self.one] && changes.created.first?.record.seenAt == Self.start)
        #expect(changes.newTokens.map(\.type) == ["Match"])
        #expect(changes.followed.map(\.topic.rawValue) == ["team:a"])
        #expect(changes.followers.map(\.key) == [Self.one])
        #expect(changes.updated.isEmpty && changes.oldTokens.isEmpty && changes.unfollowed.isEmpty)
    }

    @Test func `a registration without changes writes nothing, except its row once a day or for a higher sequence`()
        throws
    {
        let state = try Self.state(4, tokens: ["Match": "aa"])
        for (seconds, sequence, isWritten) in [(Self.day - 1, 4, false), (Self.day, 4, true), (60, 5, true)] {
            var next = state
            next.sequence = sequence
            let changes = try Self.changes(from: state, to: next, after: seconds)
            #expect(changes.updated.map(\.details.sequence) == (isWritten ? [sequence] : []))
            #expect(changes.newTokens.isEmpty && changes.followed.isEmpty && changes.followers.isEmpty)
        }
    }

    @Test func `another secret or a lower sequence is refused, even in the batch of the first registration`() throws {
        var register = Register([Self.one: Self.record(try Self.state(5))])
        func problem(_ state: InstallationState, of key: InstallationKey, _ secret: String) -> Problem.Kind? {
            do throws(Problem) {
                _ = try register.put(state, of: key, secret: secret, at: Self.start)
                return nil
            } catch {
                return error.kind
            }
        }
        #expect(problem(try Self.state(9), of: Self.one, "wrong") == .wrongInstallationSecret)
        #expect(problem(try Self.state(4), of: Self.one, "right") == .staleInstallation)
        #expect(register.changed.isEmpty)
        #expect(problem(try Self.state(5, topics: ["team:b"]), of: Self.one, "right") == nil)
        #expect(problem(try Self.state(nil, topics: ["team:c"]), of: Self.one, "right") == nil)
        #expect(problem(try Self.state(4), of: Self.one, "right") == .staleInstallation)
        #expect(problem(try Self.state(), of: Self.two, "right") == nil)
        #expect(problem(try Self.state(tokens: ["Match": "bb"]), of: Self.two, "wrong") == .wrongInstallationSecret)
        let changes = register.changes
        #expect(changes.newTokens.isEmpty && changes.updated.isEmpty)
        #expect(changes.followed.filter { $0.key == Self.one }.map(\.topic.rawValue) == ["team:c"])
        #expect(changes.unfollowed.map(\.topic.rawValue) == ["team:a"])
    }

    @Test func `a token keeps its time of registration until it changes or is refused`() throws {
        let later = Self.start.addingTimeInterval(60)
        let changes = try Self.changes(
            from: Self.state(tokens: ["A": "aa", "B": "bb", "C": "cc"]), to: Self.state(tokens: ["A": "aa", "B": "b0"]))
        #expect(changes.oldTokens.map(\.type) == ["B", "C"])
        #expect(changes.newTokens.map(\.type) == ["B"] && changes.newTokens.first?.token.registeredAt == later)
        let state = try Self.state(tokens: ["A": "aa"])
        let refused = try Self.changes(from: state, to: state, suspectSince: Self.start)
        let again = RegisteredToken(token: try Self.token("aa"), registeredAt: later)
        #expect(refused.newTokens.map(\.token) == [again] && refused.followers.map(\.key) == [Self.one])
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
        let changed = try Self.changes(from: Self.state(), to: Self.state(topics: Set(topics), system: system))
        #expect(changed.followers.isEmpty == !isFollower)
        var language = try Self.state()
        language.locale = "de"
        #expect(try Self.changes(from: Self.state(), to: language).followers.isEmpty)
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
