internal import APNsWire
internal import Testing

@testable internal import APNsSimulator

struct DeviceTests {
    @Test func `a broadcast reaches only the phones that listen, in its own environment`() throws {
        var stage = try PhoneStage(follower: "anna")
        try stage.addPhone("ben")
        try stage.addPhone("carl", in: .production)
        try stage.send(1, at: 10)
        #expect(stage.shown("anna") == [#"{"n":1}"#])
        #expect(stage.shown("ben").isEmpty)
        #expect(stage.shown("carl").isEmpty)
    }

    @Test func `a phone that was offline gets the stored message until it expires, and no other`() throws {
        for (policy, seconds, expected) in [(0, 0, 0), (1, 0, 0), (1, 600, 2), (1, 30, 0)] {
            var stage = try PhoneStage(policy: policy, follower: "anna")
            stage.setOnline(false, "anna", at: 5)
            try stage.send(1, at: 10, expiresIn: seconds)
            try stage.send(2, at: 11, expiresIn: seconds)
            #expect(stage.shown("anna", at: 12) == [#"{"n":0}"#])
            stage.setOnline(true, "anna", at: 60)
            #expect(stage.shown("anna", at: 60) == [#"{"n":\#(expected)}"#], "policy \(policy), \(seconds) s")
        }
    }

    @Test func `a message with an older or equal timestamp is dropped, and so is one far in the future`()
        throws
    {
        var stage = try PhoneStage(follower: "anna")
        for (number, timestamp, shown) in [(1, 10, 1), (2, 9, 1), (3, 10, 1), (4, 8 * 3_600 + 12, 1), (5, 11, 5)] {
            try stage.send(number, at: 11, timestamp: timestamp)
            #expect(stage.shown("anna") == [#"{"n":\#(shown)}"#])
        }
    }

    @Test func `ActivityKit accepts 4 KB, although a broadcast may be larger`() throws {
        var stage = try PhoneStage(follower: "anna")
        let state = #"{"x":"\#(String(repeating: "x", count: 4_094 - 8))"}"#
        try stage.send(state: state, at: 10)
        #expect(stage.shown("anna") == [state])
        try stage.send(state: state.replacing("xxx", with: "xxxxx", maxReplacements: 1), at: 11)
        #expect(stage.shown("anna") == [state])
        #expect(stage.events("anna").last?.contains("more than 4 KB") == true)
    }

    @Test func `after a fault that reorders messages the older one is dropped by its timestamp`() throws {
        var stage = try PhoneStage(follower: "anna")
        try stage.send(1, at: 10, postponing: true)
        #expect(stage.shown("anna") == [#"{"n":0}"#])
        try stage.send(2, at: 11)
        #expect(stage.shown("anna") == [#"{"n":2}"#])
        #expect(stage.events("anna").last?.contains("dropped") == true)
    }

    @Test func `after the end nothing changes, and the activity is visible until its dismissal, at most four hours`()
        throws
    {
        var stage = try PhoneStage(follower: "anna")
        try stage.send(1, at: 100, event: "end")
        try stage.send(2, at: 101)
        #expect(stage.shown("anna", at: 102) == [#"{"n":1}"#])
        #expect(stage.states("anna", at: 102) == [.ended])
        #expect(stage.states("anna", at: 100 + 4 * 3_600 - 1) == [.ended])
        #expect(stage.states("anna", at: 100 + 4 * 3_600).isEmpty)

        try stage.follow("ben")
        try stage.send(3, at: 200, event: "end", extra: #","dismissal-date":\#(PhoneStage.epoch + 260)"#)
        #expect(stage.states("ben", at: 259) == [.ended])
        #expect(stage.states("ben", at: 260).isEmpty)

        try stage.follow("carl")
        try stage.send(4, at: 300, event: "end", extra: #","dismissal-date":1"#)
        #expect(stage.states("carl", at: 300).isEmpty)
    }

    @Test func `an end with an old timestamp ends the activity, but does not show its older state`() throws {
        var stage = try PhoneStage(follower: "anna")
        try stage.send(1, at: 10)
        try stage.send(2, at: 11, timestamp: 5, event: "end")
        #expect(stage.states("anna", at: 12) == [.ended])
        #expect(stage.shown("anna", at: 12) == [#"{"n":1}"#])
    }

    @Test
    func `an activity is stale from its date until an update, ended after eight hours, and dismissed after twelve`()
        throws
    {
        var stage = try PhoneStage(follower: "anna")
        try stage.send(1, at: 10, extra: #","stale-date":\#(PhoneStage.epoch + 60)"#)
        #expect(stage.states("anna", at: 59) == [.active])
        #expect(stage.states("anna", at: 60) == [.stale])
        try stage.send(2, at: 70)
        #expect(stage.states("anna", at: 71) == [.active])
        #expect(stage.states("anna", at: 8 * 3_600) == [.ended])
        #expect(stage.states("anna", at: 12 * 3_600).isEmpty)
    }

    @Test(arguments: [("anna", "AAAA"), ("old", nil), ("nobody", nil)] as [(String, String?)])
    func `no activity starts on an unknown channel, an old phone or an unknown phone`(id: String, other: String?) throws
    {
        var stage = try PhoneStage()
        try stage.addPhone("anna")
        try stage.addPhone("old", system: 17)
        let activity = Activity(
            bundleID: Bench.bundleID, attributesType: "Match", channelID: other ?? stage.channel)
        #expect(throws: SimulatorError.self) { try stage.bench.state.startActivity(activity, on: id, now: Bench.now) }
    }

    @Test func `a new subscriber does not get the stored message`() throws {
        var stage = try PhoneStage(policy: 1)
        try stage.send(1, at: 10, expiresIn: 600)
        try stage.follow("anna", at: 20)
        #expect(stage.shown("anna", at: 20) == [#"{"n":0}"#])
    }

    @Test func `an activity that a push started gets a token when the person allows it, and only without a channel`()
        throws
    {
        var stage = try PhoneStage(follower: "anna")
        try stage.addPhone("old", system: 17)
        let activity = Activity(bundleID: Bench.bundleID, attributesType: "Match")
        let started = try stage.bench.state.startActivity(activity, on: "old", now: Bench.now)
        #expect(started.updateToken == nil)
        let tokens = [1, 1, 2].map { stage.bench.state.allow(activity: $0, on: "old", now: Bench.now) }
        let token = try #require(tokens[0])
        #expect(tokens == [token, token, nil])
        #expect(stage.bench.state.devices.tokens[token]?.activity == 1)
        let onChannel = stage.bench.state.allow(activity: 1, on: "anna", now: Bench.now)
        #expect(onChannel == nil)
    }
}

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

        let isRetired = stage.bench.state.devices.revoke(
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
