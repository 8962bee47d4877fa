internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// What a registration changes, compared with what the tables have.
struct RegistrationRuleTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private static let secret = SecretHash(of: Phones.secret)

    /// The change of an installation that was seen at `start`; `nil`: there is none.
    private static func change(
        from old: Contract.InstallationDraft, to new: Contract.InstallationDraft, after seconds: Double = 60
    ) throws -> Registration? {
        var account = DeviceAccount()
        defer { #expect(account == DeviceAccount()) }
        var registration = Registration(
            id: try Phones.id(), secret: secret, draft: new.normalized, now: start.addingTimeInterval(seconds),
            row: .init(state: old, secret: secret, seenAt: start))
        return try registration.decide(&account, mostNew: 0) ? registration : nil
    }

    @Test(arguments: [(86_399.0, 4, false), (86_400, 4, true), (60, 5, true), (60, nil, false)])
    func `a registration without changes writes nothing, except its row once a day or for a higher sequence`(
        seconds: Double, sequence: Int?, isWritten: Bool
    ) throws {
        let change = try Self.change(from: Phones.state(4), to: Phones.state(sequence), after: seconds)
        #expect(change?.draft.sequence == (isWritten ? sequence : nil))
        #expect(change?.isFollower != true && change?.newTokens.isEmpty != false && change?.oldTokens.isEmpty != false)
    }

    @Test func `spelling and order are no change`() throws {
        var (old, new) = (Phones.state(token: "aabb", topics: ["team:a", "team:b"]), Phones.state(token: "AAbb"))
        old.startTokens?.append(.init(attributesType: "Zebra", token: "cc"))
        new.startTokens?.insert(.init(attributesType: "Zebra", token: "CC"), at: 0)
        (new.systemVersion, new.topics) = ("18.4.1", ["team:b", "team:a", "team:b"])
        (new.liveActivitiesEnabled, new.frequentPushesEnabled) = (nil, nil)
        #expect(try Self.change(from: old, to: new) == nil)
    }

    @Test(arguments: [
        ("18.4", ["team:a", "team:b"], true), ("17.2", ["team:a"], true), ("17.1", ["team:b"], false),
    ])
    func `an installation whose topics or system changed is a late follower if it can get starts`(
        system: String, topics: [String], isFollower: Bool
    ) throws {
        let changed = Phones.state(topics: Set(topics), system: system)
        #expect(try Self.change(from: Phones.state(), to: changed)?.isFollower == isFollower)
        var language = Phones.state()
        language.locale = "de"
        #expect(try Self.change(from: Phones.state(), to: language)?.isFollower == false)
    }

    @Test func `no two of a round have a name in common, and those that have one keep their order`() async throws {
        let all = ["ab", "bc", "d", "c", "a", "d", "e"]
        var rounds: [[String]] = []
        let outputs = try await all.inRounds {
            Set($0)
        } _: { round in
            rounds.append(round)
            return round.map { $0 + "!" }
        }
        #expect(rounds == [["ab", "d", "e"], ["bc", "a", "d"], ["c"]])
        #expect(outputs == all.map { $0 + "!" })
    }
}
