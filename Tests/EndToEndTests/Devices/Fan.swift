internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit
internal import Testing

/// A simulated phone whose app registers it as an installation with its own secret.
struct Fan: Sendable {
    /// The simulator's name of the phone.
    let phone: String
    /// The push-to-start token of the phone; `nil`: the phone's system has none.
    let token: String?
    /// The version that the app reports. The simulator knows only its major version.
    let systemVersion: String

    var identity = GrandstandClient.InstallationIdentity(new: .init(Stage.bundleID, .production))
    var topics = ["team:rapid"]

    static let attributesType = "MatchAttributes"

    /// Adds a phone with the app to the simulator, in production.
    init(_ phone: String, _ systemVersion: String, _ simulator: Simulator) throws {
        let system = try #require(Int(systemVersion.prefix { $0.isNumber }))
        let device = try simulator.addDevice(phone, in: .production, system: system, bundleIDs: [Stage.bundleID])
        self.phone = phone
        self.systemVersion = systemVersion
        token = device.startTokens[Stage.bundleID.lowercased()]
    }

    /// Registers the installation with its whole state.
    func register(_ app: HTTPCaller) async throws -> HTTPCaller.Answer {
        let token = token.map { #"{"attributesType": "\#(Self.attributesType)", "token": "\#($0)"}"# } ?? ""
        let topics = topics.map { "\"\($0)\"" }
        return try await put(
            app, "",
            """
            {"systemVersion": "\(systemVersion)", "locale": "en-GB", "liveActivitiesEnabled": true,
             "frequentPushesEnabled": true, "startTokens": [\(token)], "topics": [\(topics.joined(separator: ","))]}
            """)
    }

    /// The phone's app reports the card that is on the lock screen.
    ///
    /// - Parameter token: the update token, for an activity without a channel.
    func report(_ app: HTTPCaller, of event: String, token: String? = nil) async throws -> HTTPCaller.Answer {
        let token = token.map { #", "updateToken": "\#($0)""# } ?? ""
        return try await put(
            app, "/activities/\(phone)-\(event)",
            #"{"eventKey": "\#(event)", "attributesType": "\#(Self.attributesType)", "state": "active"\#(token)}"#)
    }

    private func put(_ app: HTTPCaller, _ rest: String, _ body: String) async throws -> HTTPCaller.Answer {
        try await app(
            "PUT", "/v1/apps/\(Stage.bundleID)/production/installations/\(identity.installationId)\(rest)", body,
            headers: ["Grandstand-Installation-Secret": identity.secret])
    }
}

/// Steps that several tests of starts share.
extension Stage {
    /// A caller with the key that ships in the app.
    func appsKey() async throws -> HTTPCaller { try await caller([.device], app: Self.bundleID) }

    /// The declaration of an event for the followers of these topics. The event starts in a year, unless it is started
    /// by hand.
    static func startingEvent(topics: [String] = ["team:rapid"]) -> String {
        let topics = topics.map { "\"\($0)\"" }.joined(separator: ",")
        return """
            {"name": "Derby", "audiences": [\(audience(.production, .mostRecentMessageStored))], "topics": [\(topics)],
             "start": {"at": "\(Date(timeIntervalSinceNow: 31_536_000).formatted(.iso8601))", "contentState": {"home": 0},
                "attributesType": "\(Fan.attributesType)", "attributes": {"home": "Rapid", "away": "Sturm"},
                "alert": {"title": "Kick-off", "body": "Rapid against Sturm"},
                "alertsByLocale": {"de": {"title": "Anpfiff", "body": "Rapid gegen Sturm"}}}}
            """
    }

    /// Declares an event that has a start; returns once its channels are active.
    func putStartingEvent(_ key: String, _ body: String = Stage.startingEvent()) async throws {
        let answer = try await api("PUT", "/v1/events/\(key)", body)
        try #require(answer.status == 201, "\(answer.text)")
        try await activeChannels(of: key)
    }

    /// Starts the derby on a new phone, with a channel, and on an old one, whose owner allows the activity and whose
    /// update token is reported.
    func startOnNewAndOld() async throws -> (app: HTTPCaller, new: Fan, old: Fan) {
        try await putApp()
        let app = try await appsKey()
        let (new, old) = (try Fan("new", "18.4", simulator), try Fan("old", "17.5", simulator))
        for fan in [new, old] { #expect(try await fan.register(app).status == 201) }
        try await putStartingEvent("derby")
        #expect(try await api("POST", "/v1/events/derby/starts").status == 202)
        for fan in [new, old] { try await shows(fan, #"{"home": 0}"#) }
        try await until("the start of the derby is done") {
            let starts = try await shown("/v1/events/derby/starts")
            return starts["state"]?.string == "done" && starts.count("accepted") == 2
        }
        #expect(try await new.report(app, of: "derby").status < 300)
        let token = try simulator.allow(activity: 1, on: old.phone)
        #expect(try await old.report(app, of: "derby", token: token).status < 300)
        return (app, new, old)
    }

    /// Waits until a phone shows one card with this content, and nothing else.
    func shows(_ fan: Fan, _ content: String) async throws {
        _ = try await simulator.awaitScreen(of: fan.phone) { $0.map(\.contentState.text) == [content] }
    }
}

extension SimulatorRequest {
    var isDevicePush: Bool { path.hasPrefix("/3/device/") }

    /// The token that a push goes to.
    var deviceToken: String? { isDevicePush ? String(path.dropFirst("/3/device/".count)) : nil }
}

extension JSON {
    /// One of a start's counts, over all audiences.
    func count(_ name: String) -> Int? { self["counts"]?[name]?.int }

    /// Whether the counts of a start add up to its followers.
    var addsUp: Bool {
        let settled = ["accepted", "rejected", "unknown", "pending"].compactMap { count($0) }.reduce(0, +)
        let ineligible = self["counts"]?["ineligible"]?.members.values.compactMap(\.int) ?? []
        return count("followers") == settled + ineligible.reduce(0, +)
    }
}
