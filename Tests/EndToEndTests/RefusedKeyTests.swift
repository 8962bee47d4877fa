internal import APNsSimulator
internal import APNsWire
internal import Cryptography
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// A wrong signing key under the same file name, while matches are on.
@Suite(.timeLimit(.minutes(20)))
struct RefusedKeyTests {
    private static let matches = (0..<10).map { "match-\($0)" }

    /// A key folder with one file, which a test can replace.
    private struct Keys {
        let folder: TemporaryFolder
        let right: String

        init(_ simulator: Simulator) throws {
            folder = try TemporaryFolder()
            right = try String(contentsOfFile: try #require(simulator.addresses).keyFile, encoding: .utf8)
            try put(right)
        }

        func put(_ key: String) throws {
            try key.write(
                toFile: folder.path + "/AuthKey_\(SimulatorIdentity.keyID).p8", atomically: true, encoding: .utf8)
        }
    }

    @Test
    func `all replicas report a refused signing key, and soon after the right one is there all works`()
        async throws
    {
        try await Stage.place(settings: ["GRANDSTAND_LOG_LEVEL": "info"]) { environment, simulator in
            let keys = try Keys(simulator)
            let environment = environment.merging(["GRANDSTAND_APNS_KEY_DIR": keys.folder.path]) { $1 }
            let secret = try await Stage.secret(environment)
            let process = try await ServerProcess.start(environment, keepsLog: true)
            // This process answers calls of the API and sends nothing.
            let beside = try await ServerProcess.start(environment.merging(["GRANDSTAND_ROLES": "api"]) { $1 })
            let api = HTTPCaller(url: process.url, secret: secret)
            let other = HTTPCaller(url: beside.url, secret: secret)
            try await Stage.putApp(api)
            for match in Self.matches { try await Self.declare(match, api) }
            for match in Self.matches { try await Self.activeChannel(of: match, api) }
            try await Self.update(1, api)
            try await Self.reached(1, simulator, api)

            try keys.put(PrivateKey.p256().pem)
            simulator.clearJournal()
            for api in [api, other] {
                // The server checks the file every two seconds. Until then it sends with the old token.
                var number = 1
                try await until("the alarm stands") {
                    let quotas = try await api("GET", "/v1/quotas").json["items"]?.items ?? []
                    let alarms = quotas.compactMap { $0["alarm"]?.string }
                    if alarms == ["key-refused"] { return true }
                    number += 1
                    try await Self.update(number, api)
                    return false
                }
                let app = try await api("GET", "/v1/apps").json["items"]?[0]
                #expect(app?["credentials"]?["development"]?.string == "refused")
                #expect(app?["credentials"]?["production"]?.string == "ok")
                let refusal = app?["credentialRefusals"]?["development"]
                #expect(refusal?["reason"]?.string == "InvalidProviderToken")
                #expect(refusal?["since"]?.string != nil)
            }
            let ready = try await api("GET", "/readyz")
            #expect(ready.status == 200)
            #expect(ready.json["apns"]?["development"]?["state"]?.string == "refused")
            // `/readyz` needs no API key, so it does not name the signing key.
            #expect(!ready.text.contains(SimulatorIdentity.keyID))
            for match in 0..<20 { try await Self.update(1_000 + match, api) }
            try await Self.declare("late", api)

            // APNs has refused the requests that were under way when the first refusal came, and after them the probes.
            // The test waits for three more probes.
            let begun = simulator.journal().count { $0.status == 403 }
            let refused = try await simulator.requests(begun + 3) { $0.status == 403 }
            #expect(begun <= Self.matches.count + 4, "\(begun)")
            let last = refused.suffix(3).map(\.time)
            for (one, next) in zip(last, last.dropFirst()) { #expect(next - one > 2.5) }

            // A probe is sent every three seconds and the file is checked every two, so the wrong key is sent at most
            // once more. A probe that was under way is another one.
            let count = simulator.journal().count { $0.status == 403 }
            try keys.put(keys.right)
            try await Self.reached(1_019, simulator, api)
            #expect(simulator.journal().count { $0.status == 403 } <= count + 2)
            try await Self.activeChannel(of: "late", api)
            for api in [api, other] {
                try await until("nothing is said of it any more") {
                    let quotas = try await api("GET", "/v1/quotas").json["items"]?.items ?? []
                    let app = try await api("GET", "/v1/apps").json["items"]?[0]
                    return quotas.allSatisfy { $0["alarm"]?.string == nil }
                        && app?["credentials"]?["development"]?.string == "ok"
                }
            }
            #expect(try await api("GET", "/readyz").json["apns"]?["development"]?["state"]?.string == "reachable")
            await beside.terminate()
            await process.terminate()
            let log = process.log.split(separator: "\n")
            #expect(log.count { $0.contains("APNs refuses the provider tokens") } == 1)
            #expect(log.count { $0.contains("that APNs refused was replaced") } == 1)
            let warnings = log.filter { $0.contains(#""level":"warning""#) }
            // One warning for the first refused message, and one for the first refused creation.
            #expect(warnings.count <= 2, "\(warnings)")
        }
    }

    private static func declare(_ match: String, _ api: HTTPCaller) async throws {
        let answer = try await api(
            "PUT", "/v1/events/\(match)",
            #"{"name": "Match", "audiences": [\#(Stage.audience(.development, .mostRecentMessageStored))]}"#)
        try #require(answer.status == 201, "\(answer.text)")
    }

    private static func activeChannel(of match: String, _ api: HTTPCaller) async throws {
        try await until("\(match) has its channel") {
            let channel = try await api("GET", "/v1/events/\(match)").json["audiences"]?[0]?["channel"]
            return channel?["state"]?.string == "active"
        }
    }

    /// Sends an update with `number` to every match.
    private static func update(_ number: Int, _ api: HTTPCaller) async throws {
        let items = matches.map { #"{"eventKey": "\#($0)", "event": "update", "contentState": {"n": \#(number)}}"# }
        let answer = try await api("POST", "/v1/broadcasts", #"{"items": [\#(items.joined(separator: ","))]}"#)
        try #require([200, 202, 207].contains(answer.status), "\(answer.text)")
    }

    /// Waits until APNs stores the update with `number` for every match.
    private static func reached(_ number: Int, _ simulator: Simulator, _ api: HTTPCaller) async throws {
        var channels: [String] = []
        for match in matches {
            let event = try await api("GET", "/v1/events/\(match)").json
            channels.append(try #require(event["audiences"]?[0]?["channel"]?["channelId"]?.string))
        }
        try await until("\(number) has reached every match") {
            channels.allSatisfy { channel in
                let all = simulator.channels(of: Stage.bundleID, in: .development)
                return all.first { $0.id == channel }?.stored?.body.contains(#""n": \#(number)}"#) == true
            }
        }
    }
}
