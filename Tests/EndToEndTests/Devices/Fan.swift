internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// A simulated phone whose app registers it as an installation with its own secret.
struct Fan: Sendable {
    /// The simulator's name of the phone.
    let phone: String
    let bundleID: String
    /// The push-to-start token of the phone; `nil`: the phone's system has none.
    let token: String?
    /// The version that the app reports. The simulator knows only its major version.
    let systemVersion: String

    /// The event that the app reports activities of.
    var event = "derby"
    var installation = UUID()
    var secret = Fan.makeSecret()
    var topics = ["team:rapid"]

    static let attributesType = "MatchAttributes"

    /// Adds a phone with the app to the simulator, in production.
    init(
        _ phone: String, _ systemVersion: String, of bundleID: String = Stage.bundleID, _ simulator: Simulator
    ) throws {
        let system = try #require(Int(systemVersion.prefix { $0.isNumber }))
        let device = try simulator.addDevice(phone, in: .production, system: system, bundleIDs: [bundleID])
        self.phone = phone
        self.bundleID = bundleID
        self.systemVersion = systemVersion
        token = device.startTokens[bundleID.lowercased()]
    }

    /// 32 bytes in base64url.
    static func makeSecret() -> String {
        (0..<43).map { _ in
            String("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".randomElement() ?? "A")
        }
        .joined()
    }

    private var path: String {
        "/v1/apps/\(bundleID)/production/installations/\(installation.uuidString.lowercased())"
    }

    /// The whole state that the app registers.
    private var state: String {
        let token = token.map { #"{"attributesType": "\#(Self.attributesType)", "token": "\#($0)"}"# } ?? ""
        let topics = topics.map { "\"\($0)\"" }
        return """
            {"systemVersion": "\(systemVersion)", "locale": "en-GB", "liveActivitiesEnabled": true,
             "frequentPushesEnabled": true, "startTokens": [\(token)], "topics": [\(topics.joined(separator: ","))]}
            """
    }

    /// Makes a call about this installation. The call has the installation's secret, unless another secret is given.
    func call(
        _ app: HTTPCaller, _ method: String, _ rest: String = "", _ body: String? = nil, secret: String? = nil
    ) async throws -> HTTPCaller.Answer {
        try await app(
            method, path + rest, body, headers: ["Grandstand-Installation-Secret": secret ?? self.secret])
    }

    /// Registers the installation's state and its topics.
    func register(_ app: HTTPCaller) async throws {
        let answer = try await registration(app)
        try #require([200, 201].contains(answer.status), "\(answer.text)")
    }

    /// Registers the installation and returns the answer, whatever it is.
    func registration(_ app: HTTPCaller) async throws -> HTTPCaller.Answer { try await call(app, "PUT", "", state) }

    /// The phone's app reports the card that is on the lock screen.
    ///
    /// - Parameter token: the update token, for an activity without a channel.
    func report(
        _ app: HTTPCaller, of event: String? = nil, state: String = "active", token: String? = nil
    ) async throws {
        let answer = try await reporting(app, of: event ?? self.event, state: state, token: token)
        try #require([200, 201].contains(answer.status), "\(answer.text)")
    }

    /// Reports the card and returns the answer, whatever it is.
    func reporting(
        _ app: HTTPCaller, of event: String, state: String = "active", token: String? = nil
    ) async throws -> HTTPCaller.Answer {
        let token = token.map { #", "updateToken": "\#($0)""# } ?? ""
        return try await call(
            app, "PUT", "/activities/\(phone)-\(event)",
            #"{"eventKey": "\#(event)", "attributesType": "\#(Self.attributesType)", "state": "\#(state)"\#(token)}"#)
    }
}

/// Steps that several tests of starts share.
extension Stage {
    /// A phone with the app in production.
    func fan(_ phone: String, _ systemVersion: String = "18.4") throws -> Fan {
        var fan = try Fan("\(event)-\(phone)", systemVersion, of: bundleID, simulator)
        fan.event = event
        return fan
    }

    /// A caller with the key that ships in the app.
    func appsKey() async throws -> HTTPCaller { try await caller([.device], app: bundleID) }

    /// The declaration of an event for the followers of two teams. The event starts in a year, unless it is started by
    /// hand.
    ///
    /// - Parameter content: JSON; `nil`: the newest content that was accepted.
    static func startingEvent(
        _ audiences: [String] = [Stage.audience(.production, .mostRecentMessageStored)],
        topics: [String] = ["team:rapid", "team:sturm"], content: String? = #"{"home": 0}"#
    ) -> String {
        let content = content.map { #""contentState": \#($0),"# } ?? ""
        let topics = topics.map { "\"\($0)\"" }.joined(separator: ",")
        return """
            {"name": "Derby", "audiences": [\(audiences.joined(separator: ","))], "topics": [\(topics)],
             "start": {"at": "\(Date(timeIntervalSinceNow: 31_536_000).formatted(.iso8601))", \(content)
                "attributesType": "\(Fan.attributesType)", "attributes": {"home": "Rapid", "away": "Sturm"},
                "alert": {"title": "Kick-off", "body": "Rapid against Sturm"},
                "alertsByLocale": {"de": {"title": "Anpfiff", "body": "Rapid gegen Sturm"}}}}
            """
    }

    /// Declares an event that has a start; returns once its channels are active.
    func putStartingEvent(_ key: String? = nil, _ body: String? = nil) async throws {
        let answer = try await api(
            "PUT", "/v1/events/\(key ?? event)",
            body ?? Self.startingEvent([audience(.production, .mostRecentMessageStored)]))
        try #require(answer.status == 201, "\(answer.text)")
        try await activeChannels(of: key ?? event)
    }

    /// Requests that the event is started at once.
    func startNow(_ key: String? = nil) async throws {
        let answer = try await api("POST", "/v1/events/\(key ?? event)/starts")
        try #require(answer.status == 202, "\(answer.text)")
    }

    /// What has become of the event's start.
    func starts() async throws -> JSON {
        let answer = try await api("GET", "/v1/events/\(event)/starts")
        try #require(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    /// Waits until nothing is left to send, and so many starts are accepted.
    @discardableResult
    func started(accepted: Int) async throws -> JSON {
        try await until("the start of \(event) is done") {
            let starts = try await starts()
            return starts["state"]?.string == "done" && starts.count("accepted") == accepted ? starts : nil
        }
    }

    /// Starts the event on a new phone, with a channel, and on an old one, whose owner allows the activity and whose
    /// update token is reported.
    func startOnNewAndOld() async throws -> (app: HTTPCaller, new: Fan, old: Fan, token: String) {
        try await putApp()
        let app = try await appsKey()
        let (new, old) = (try fan("new"), try fan("old", "17.5"))
        for fan in [new, old] { try await fan.register(app) }
        try await putStartingEvent()
        try await startNow()
        for fan in [new, old] { try await shows(fan, #"{"home": 0}"#) }
        try await started(accepted: 2)
        let token = try simulator.allow(activity: 1, on: old.phone)
        try await new.report(app)
        try await old.report(app, token: token)
        return (app, new, old, token)
    }

    /// Waits until a phone shows one card with this content, and nothing else.
    @discardableResult
    func shows(_ fan: Fan, _ content: String) async throws -> APNsSimulator.Activity {
        let shown = try await simulator.lockScreen(of: fan.phone) { $0.map(\.contentState.text) == [content] }
        return try #require(shown.first)
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
