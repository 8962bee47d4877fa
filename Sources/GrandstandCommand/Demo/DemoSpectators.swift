internal import APNsSimulator
internal import APNsWire
internal import Foundation

/// The demo's phones. In each environment, one phone is always online, and another phone loses its network for a while.
/// The demo succeeds if their lock screens are right.
struct DemoSpectators {
    private struct Phone {
        let id: String
        let environment: APNsEnvironment
        let hasTunnel: Bool
        var policy = StoragePolicy.noMessageStored
        /// The simulator's number for the phone's activity of the present event.
        var activity = 0
        var isOnline = true
        var shown: DemoEvent.Broadcast?
    }

    private let simulator: Simulator
    private var phones: [Phone]
    /// How many broadcasts of the present event were sent so far.
    private var sent = 0
    private var newest: DemoEvent.Broadcast?

    init(simulator: Simulator) throws {
        self.simulator = simulator
        phones = APNsEnvironment.allCases.flatMap { environment in
            [false, true].map { hasTunnel in
                Phone(
                    id: "\(environment.rawValue) \(hasTunnel ? "commuter" : "sofa")", environment: environment,
                    hasTunnel: hasTunnel)
            }
        }
        for phone in phones { try simulator.addDevice(phone.id, in: phone.environment) }
    }

    var count: Int { phones.count }

    /// Both phones of an environment open the app, which looks the channel up and follows it.
    mutating func follow(
        _ channelID: String, of bundleID: String, in environment: APNsEnvironment, _ policy: StoragePolicy
    ) throws {
        sent = 0
        for index in phones.indices where phones[index].environment == environment {
            let activity = try simulator.startActivity(
                on: phones[index].id, of: bundleID, channelID: channelID, attributesType: "DemoAttributes")
            phones[index].activity = activity.number
            phones[index].policy = policy
            phones[index].shown = nil
        }
    }

    /// Called before each broadcast. The phones with `hasTunnel` (commuters) go offline after a third of the broadcasts
    /// and online again after two thirds. `total` is the number of broadcasts.
    ///
    /// - Returns: a line for the report; `nil`: nothing changed.
    mutating func beforeBroadcast(ofTotal total: Int) throws -> String? {
        defer { sent += 1 }
        if sent == total / 3 {
            setOnline(false)
            return "the commuters lose their network"
        }
        if sent == total * 2 / 3 {
            setOnline(true)
            return "the commuters are back, and show the stored message if their channel stores one"
        }
        return nil
    }

    /// Expects this broadcast on the phones that are online.
    mutating func expect(_ broadcast: DemoEvent.Broadcast) {
        newest = broadcast
        for index in phones.indices where phones[index].isOnline { phones[index].shown = broadcast }
    }

    /// Checks every lock screen.
    ///
    /// - Throws: `PlayFailure` for the first lock screen with wrong content.
    func check() throws {
        for phone in phones {
            guard let expected = phone.shown else { continue }
            let screen = simulator.lockScreen(of: phone.id)
            guard let activity = screen.first(where: { $0.number == phone.activity }),
                try DemoEvent.canonical(json: activity.contentState) == expected.contentState,
                activity.state == (expected.isEnd ? .ended : .active)
            else {
                throw PlayFailure(
                    "\(phone.id) should show \(String(decoding: expected.contentState, as: UTF8.self)), not \(screen)")
            }
            guard let alert = expected.alert else { continue }
            guard try activity.alert.map({ try DemoEvent.canonical(json: $0) }) == alert else {
                throw PlayFailure("\(phone.id) did not get the alert of \(expected.label)")
            }
        }
    }

    /// The number of phones that should show the newest broadcast.
    var upToDate: Int { phones.count { $0.isOnline } }

    private mutating func setOnline(_ isOnline: Bool) {
        for index in phones.indices where phones[index].hasTunnel {
            simulator.setOnline(isOnline, device: phones[index].id)
            phones[index].isOnline = isOnline
            // A message that was not stored is lost for an offline phone.
            if isOnline, phones[index].policy == .mostRecentMessageStored { phones[index].shown = newest }
        }
    }
}
