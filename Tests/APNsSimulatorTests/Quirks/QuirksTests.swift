internal import APNsWire
internal import Foundation
internal import Testing

@testable internal import APNsSimulator

struct QuirksTests {
    @Test func `every quirk can be set to each of its values, and the simulator's manual names them all`() throws {
        let manual = URL(filePath: #filePath).appending(path: "../../../../docs/simulator.md").standardized
        let text = try String(contentsOf: manual, encoding: .utf8)
        for quirk in Quirks.table {
            #expect(text.contains("| `\(quirk.name)` |"))
            for value in quirk.values {
                var quirks = Quirks()
                try quirks.set(["\(quirk.name)=\(value)"])
                #expect(quirks[quirk.name] == value)
                #expect((quirks == Quirks()) == (value == quirk.standard))
                #expect(text.contains("`\(value)`"), "\(quirk.name)=\(value)")
            }
        }
    }

    @Test(arguments: ["capitals", "capitals=maybe", "weather=fine", "=x"])
    func `an unknown name or value is refused`(text: String) {
        var quirks = Quirks()
        #expect(throws: SimulatorError.self) { try quirks.set([text]) }
    }

    @Test func `each quirk changes the answer as described`() throws {
        let path = "/1/apps/\(Bench.bundleID)/channels"
        let list = "/1/apps/\(Bench.bundleID)/all-channels"
        try check("capitals=accepted", 403, 200) { try $0.send("GET", "/1/apps/com.example.Scores/all-channels") }
        try check("capability-off=FeatureNotEnabled", 400, 400, "FeatureNotEnabled") {
            $0.state.setBroadcastCapability(false, of: Bench.bundleID)
            return try $0.send("GET", list)
        }
        try check("unknown-deletion=ChannelNotRegistered", 404, 400, "ChannelNotRegistered") {
            try $0.send("DELETE", path, ["apns-channel-id": $0.deleted])
        }
        try check("unknown-channel=ChannelNotRegistered", 400, 400, "ChannelNotRegistered") {
            try $0.send("GET", path, ["apns-channel-id": "AAAA"])
        }
        try check("missing-policy=BadRequestParams", 400, 400, "BadRequestParams") {
            try $0.send("POST", path, [:], #"{"push-type":"LiveActivity"}"#)
        }
        try check("missing-expiration=accepted", 400, 200) { try $0.broadcast(on: $0.none, ["apns-expiration": ""]) }
        try check("expiration-policy-0=nonzero", 200, 400, "BadExpirationDate") { try $0.broadcast(on: $0.none) }
        try check("expiration-policy-0=any", 400, 200) {
            try $0.broadcast(on: $0.none, ["apns-expiration": "1780003600"])
        }
        try check("past-expiration=BadExpirationDate", 200, 400, "BadExpirationDate") {
            try $0.broadcast(on: $0.stored, ["apns-expiration": "1779999999"])
        }
        try check("request-id-capitals=accepted", 400, 200) {
            try $0.broadcast(on: $0.none, ["apns-request-id": "0F8B1A2C-3D4E-5F60-7182-93A4B5C6D7E8"])
        }
        try check("payload=lenient", 400, 200) {
            try $0.broadcast(on: $0.none, [:], #"{"aps":{"event":"update"}}"#)
        }
        try check("unknown-device=accepted", 400, 200) {
            try $0.push(to: "abcd", #"{"aps":{"timestamp":1,"event":"end"}}"#)
        }
    }

    @Test func `in production a broadcast has a unique ID unless a quirk removes it`() throws {
        var bench = try Bench()
        let id = try bench.create(policy: 0, in: .production)
        let first = try bench.broadcast(on: id, in: .production)[header: "apns-unique-id"]
        #expect(first?.count == 36)
        #expect(try bench.broadcast(on: id, in: .production)[header: "apns-unique-id"] != first)
        try bench.state.quirks.set("unique-id-production", to: "off")
        #expect(try bench.broadcast(on: id, in: .production)[header: "apns-unique-id"] == nil)
    }

    /// Checks the status of the answer without the quirk (`before`) and with it (`after`, with the reason).
    private func check(
        _ quirk: String, _ before: Int, _ after: Int, _ reason: String? = nil,
        send: (inout Bench) throws -> SimulatorAnswer
    ) throws {
        var bench = try Bench()
        try bench.addChannels()
        var turned = bench
        try turned.state.quirks.set([quirk])
        let answer = try send(&turned)
        let plain = try send(&bench)
        #expect(plain.status == before, "\(quirk)")
        #expect(answer.status == after, "\(quirk)")
        let body = String(decoding: answer.body, as: UTF8.self)
        #expect(reason.map { body == #"{"reason":"\#($0)"}"# } ?? true, "\(quirk)")
    }
}
