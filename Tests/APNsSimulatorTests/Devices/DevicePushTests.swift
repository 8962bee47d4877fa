internal import APNsWire
internal import Testing

@testable internal import APNsSimulator

/// Device pushes for Live Activities.
struct DevicePushTests {
    static let start = #"""
        {"aps":{"timestamp":1780000000,"event":"start","content-state":{"n":0},"attributes-type":"Match",\#
        "attributes":{"home":"A"},"alert":{"title":"Kick-off"}{extra}}}
        """#

    @Test func `an activity started by push on a channel follows its broadcasts`() throws {
        var stage = try PhoneStage()
        let token = try stage.addPhone("anna")
        let started = try stage.bench.push(to: token, Self.start(#","input-push-channel":"\#(stage.channel)""#))
        #expect(started.status == 200)
        #expect(started[header: "apns-id"]?.count == 36)
        #expect(started[header: "apns-request-id"] == nil)
        #expect(stage.shown("anna") == [#"{"n":0}"#])
        try stage.send(1, at: 10)
        #expect(stage.shown("anna") == [#"{"n":1}"#])
    }

    @Test func `an activity started with a token gets updates and an end by that token`() throws {
        var stage = try PhoneStage()
        let token = try stage.addPhone("anna")
        _ = try stage.bench.push(to: token, Self.start(#","input-push-token":1"#))
        let update = try #require(stage.bench.state.devices.byID["anna"]?.activities.first?.updateToken)
        #expect(update.count == 160)
        let body = #"{"aps":{"timestamp":1780000001,"event":"update","content-state":{"n":1}}}"#
        #expect(try stage.bench.push(to: update, body).status == 200)
        #expect(stage.shown("anna") == [#"{"n":1}"#])
        #expect(try stage.bench.push(to: update, #"{"aps":{"timestamp":1780000002,"event":"end"}}"#).status == 200)
        #expect(stage.states("anna", at: 3) == [.ended])
        #expect(try stage.bench.push(to: update, body).status == 200, "200 is no proof")

        let isRetired = stage.bench.state.devices.retire(
            update, Refusal(.expiredToken, timestamp: 1_780_000_000_000))
        #expect(isRetired)
        let gone = try stage.bench.push(to: update, body)
        #expect(gone.status == 410)
        #expect(String(decoding: gone.body, as: UTF8.self) == #"{"reason":"ExpiredToken","timestamp":1780000000000}"#)
    }

    @Test
    func
        `while a phone is offline the newest push of an app waits until it expires, and one with expiration 0 is lost`()
        throws
    {
        for (expiration, after, count) in [("", 60.0, 1), ("0", 60, 0), ("1780000030", 60, 0), ("1780000090", 60, 1)] {
            var stage = try PhoneStage()
            let token = try stage.addPhone("anna")
            stage.setOnline(false, "anna", at: 1)
            let answer = try stage.bench.push(to: token, Self.start(""), ["apns-expiration": expiration])
            #expect(answer.status == 200)
            stage.setOnline(true, "anna", at: after)
            #expect(stage.shown("anna", at: after).count == count, "\(expiration)")
        }
    }

    @Test func `while a phone is offline the newest push of each collapse ID waits`() throws {
        var stage = try PhoneStage()
        let token = try stage.addPhone("anna")
        stage.setOnline(false, "anna", at: 1)
        for (number, id) in ["derby", "final", "", "derby", ""].enumerated() {
            let push = Self.start("").replacing(#""n":0"#, with: #""n":\#(number)"#)
            #expect(try stage.bench.push(to: token, push, id.isEmpty ? [:] : ["apns-collapse-id": id]).status == 200)
        }
        stage.setOnline(true, "anna", at: 60)
        #expect(Set(stage.shown("anna", at: 60)) == Set([1, 3, 4].map { #"{"n":\#($0)}"# }))
    }

    @Test func `a phone accepts ten starts in an hour, and APNs answers 200 to further ones`() throws {
        var stage = try PhoneStage()
        let token = try stage.addPhone("anna")
        for _ in 0..<12 { #expect(try stage.bench.push(to: token, Self.start("")).status == 200) }
        #expect(stage.shown("anna").count == Device.startBudget)
        #expect(stage.events("anna").last?.contains("budget") == true)
    }

    /// Mistakes beyond those of docs/internals/conformance.json.
    @Test func `an odd token, an end to a push-to-start token and a deeper path are refused`() throws {
        var stage = try PhoneStage()
        let token = try stage.addPhone("anna")
        #expect(try stage.bench.push(to: "abc", Self.start("")).reason == .badDeviceToken)
        #expect(try stage.bench.push(to: token, #"{"aps":{"timestamp":1,"event":"end"}}"#).reason == .badRequestPayload)
        #expect(try stage.bench.send("POST", "/3/device/ab/cd").reason == .badPath)
    }

    @Test func `a duplicate header is refused`() throws {
        var stage = try PhoneStage()
        let token = try stage.bench.provider.token(at: Bench.now)
        let request = SimulatorRequest(
            environment: .development, method: "POST", path: "/3/device/abcd",
            headers: [
                .init("authorization", "bearer \(token)"), .init("apns-priority", "5"), .init("apns-priority", "5"),
            ])
        #expect(stage.bench.state.handle(request, now: Bench.now).reason == .duplicateHeaders)
    }

    static func start(_ extra: String) -> String { start.replacing("{extra}", with: extra) }
}
