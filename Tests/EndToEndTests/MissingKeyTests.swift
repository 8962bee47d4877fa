internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// A process without the key file, while a match is on.
@Suite(.timeLimit(.minutes(20)))
struct MissingKeyTests {
    @Test func `a process without the key leaves messages to others, and both alarms stand while nobody has it`()
        async throws
    {
        try await Stage.place { environment, simulator in
            let folder = try TemporaryFolder()
            let keyless = environment.merging(["GRANDSTAND_APNS_KEY_DIR": folder.path]) { $1 }
            try await Stage.serve(environment, simulator: simulator) { healthy in
                try await healthy.putLiveEvent()
                try await Stage.serve(keyless, simulator: simulator) { stage in
                    for number in 1...5 {
                        let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": \#(number)}}"#)
                        #expect(try await stage.settled(id).deliveryStates == ["accepted"])
                    }
                    try await Self.alarms(["key-missing"], stage.api)
                    #expect(try await stage.quota()["alarm"]?.string == "key-missing")
                }
            }
            try await Stage.serve(keyless, simulator: simulator) { stage in
                let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 6}}"#)
                try await Self.alarms(["key-missing", "nothing-accepted"], stage.api)
                #expect(try await stage.api("GET", "/readyz").status == 200)
                let key = try String(contentsOfFile: try #require(simulator.addresses).keyFile, encoding: .utf8)
                try key.write(
                    toFile: folder.path + "/AuthKey_\(SimulatorIdentity.keyID).p8", atomically: true, encoding: .utf8)
                #expect(try await stage.settled(id).deliveryStates == ["accepted"])
                try await Self.alarms([], stage.api)
            }
        }
    }

    /// Waits until exactly these alarms stand in development.
    private static func alarms(_ names: [String], _ api: HTTPCaller) async throws {
        try await until("\(names) stand") {
            let standing = try await MetricsTests.scrape(api).split(separator: "\n").filter {
                $0.hasPrefix("grandstand_alarm{") && $0.contains(#""development""#) && $0.hasSuffix(" 1")
            }
            return standing.count == names.count
                && names.allSatisfy { name in standing.contains { $0.contains(#""\#(name)""#) } }
        }
    }
}
