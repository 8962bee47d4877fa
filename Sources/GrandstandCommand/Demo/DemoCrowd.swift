internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient

/// The demo's phones. In each environment, one phone is always online, and a commuter's loses its network for a while. In
/// production a thousand phones follow a topic; two of them are offline when the match starts.
struct DemoCrowd {
    private struct Member {
        let phone: Phone
        let environment: APNsEnvironment
        let policy: StoragePolicy
        let loses: Bool
        var isOnline = true
        var shown: DemoEvent.Moment?
    }

    static let followers = 1_000
    private static let locales = ["en-GB", "es-AR"]

    private let simulator: Simulator
    private var members: [Member] = []
    private var newest: DemoEvent.Moment?

    init(_ simulator: Simulator) { self.simulator = simulator }

    var count: Int { members.count }
    var online: Int { members.count(where: \.isOnline) }

    /// Two phones open the app, look the channel up and follow it.
    mutating func follow(_ channelID: String, in environment: APNsEnvironment, _ policy: StoragePolicy) throws {
        for name in ["sofa", "commuter"] {
            let phone = try Phone(
                "\(environment.rawValue) \(name)", app: DemoMatch.bundleID, in: environment, simulator)
            _ = try simulator.startActivity(
                on: phone.id, of: DemoMatch.bundleID, channelID: channelID, attributesType: "FinalAttributes")
            members.append(
                Member(phone: phone, environment: environment, policy: policy, loses: name == "commuter"))
        }
    }

    /// The phones that follow the event's topic register themselves.
    mutating func register(_ event: DemoEvent, _ app: GrandstandClient) async throws {
        let phones = try (0..<Self.followers).map { number in
            try Phone(
                "follower \(number)", app: DemoMatch.bundleID, in: .production, locale: Self.locales[number % 2],
                simulator)
        }
        try await forEach(phones, atMost: 32) { phone in
            try await phone.follow(event.event.topics ?? [], attributesType: event.event.content ?? "", app)
        }
        members += phones.enumerated().map { number, phone in
            Member(
                phone: phone, environment: .production, policy: .mostRecentMessageStored,
                loses: number >= phones.count - 2)
        }
    }

    /// The followers that the start has reached, each with its card.
    ///
    /// - Throws: `PlayFailure` for a follower that is online and has no card, or not its language's alert.
    func started(with titles: [String]) throws -> [(phone: Phone, card: APNsSimulator.Activity)] {
        try members.filter { $0.phone.id.hasPrefix("follower") && $0.isOnline }.map { member in
            let cards = simulator.lockScreen(of: member.phone.id)
            guard cards.count == 1, let alert = cards[0].alert,
                alert.text.contains(titles[member.phone.locale == Self.locales[0] ? 0 : 1])
            else {
                throw PlayFailure("\(member.phone.id) should show one card with its language's alert, not \(cards)")
            }
            return (member.phone, cards[0])
        }
    }

    /// The network of some phones goes or comes back. A phone that comes back shows the newest message if its channel
    /// stores one.
    mutating func setOnline(_ isOnline: Bool) throws {
        for index in members.indices where members[index].loses && members[index].isOnline != isOnline {
            simulator.setOnline(isOnline, device: members[index].phone.id)
            members[index].isOnline = isOnline
            if isOnline, members[index].policy.stores { members[index].shown = newest }
        }
        try check()
    }

    /// Expects this moment on the phones that are online, and checks every lock screen.
    mutating func expect(_ moment: DemoEvent.Moment) throws {
        newest = moment
        for index in members.indices where members[index].isOnline { members[index].shown = moment }
        try check()
    }

    /// - Throws: `PlayFailure` for the first lock screen with wrong content.
    private func check() throws {
        for member in members {
            guard let expected = member.shown else { continue }
            let cards = simulator.lockScreen(of: member.phone.id)
            guard cards.count == 1, try expected.isShown(by: cards[0], rings: member.isOnline) else {
                throw PlayFailure("\(member.phone.id) should show \(expected.label), not \(cards)")
            }
        }
    }
}
