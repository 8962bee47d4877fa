internal import APNsSimulator
internal import APNsWire
internal import Foundation
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
