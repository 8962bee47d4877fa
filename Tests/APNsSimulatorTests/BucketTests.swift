internal import APNsWire
internal import JSON
internal import Testing

@testable internal import APNsSimulator

/// Rate limits that APNs does not publish: which requests are accepted, which get 429, and what is counted.
struct BucketTests {
    @Test(arguments: [UInt64(1), 2, 3])
    func `a bucket accepts exactly the requests that a simulated queue with the same rate accepts`(seed: UInt64) throws
    {
        var random = SeededRandom(seed: seed)
        var bucket = try Bench.bucket(#""by": "connection", "rate": 4, "burst": 8"#)
        let key = Bucket.Key(connection: 1)
        // The simulated queue has the same rule as the bucket. Each accepted request gets a time slot: a quarter of a
        // second after the previous slot, but not before the request. A request whose slot would be more than seven
        // quarters of a second away is refused. All times are binary fractions, so nothing is rounded.
        var turn = 0.0
        var time = 0.0
        var taken = 0
        for _ in 0..<5_000 {
            time += Double(Int.random(in: 0..<64, using: &random)) / 128
            let isFree = bucket.raise(key, now: time)
            #expect(isFree == (max(turn, time) - time <= 7 * 0.25), "after \(time) s")
            guard isFree else {
                _ = bucket.refuse(key)
                continue
            }
            bucket.spend(key)
            taken += 1
            turn = max(turn, time) + 0.25
        }
        #expect(bucket.counts.taken == taken)
        #expect(bucket.counts.taken + bucket.counts.refused == 5_000)
        #expect(Double(taken) <= bucket.counts.allowed)
    }

    @Test func `each app, channel or connection has its own fill level in a bucket`() throws {
        var bench = try Bench.withChannels()
        let other = try bench.create(policy: 0, of: "com.example.other")
        func all(_ scope: String) throws -> [Int] {
            var bench = bench
            try bench.add(#""by": "\#(scope)", "rate": 0, "burst": 1"#)
            var statuses = [try bench.broadcast(on: bench.none), try bench.broadcast(on: bench.none)]
            statuses.append(try bench.broadcast(on: bench.stored))
            statuses.append(try bench.broadcast(on: other, of: "com.example.other"))
            bench.connection = 7
            statuses.append(try bench.broadcast(on: bench.none))
            return statuses.map(\.status)
        }
        #expect(try all("app") == [200, 429, 429, 200, 429])
        #expect(try all("channel") == [200, 429, 200, 200, 429])
        #expect(try all("connection") == [200, 429, 429, 429, 200])
    }

    @Test func `broadcasts and device pushes have separate buckets`() throws {
        var stage = try PhoneStage()
        let token = try stage.addPhone("anna")
        let another = try stage.addPhone("ben")
        try stage.bench.add(#""operation": "device", "by": "app", "rate": 0, "burst": 2"#)
        try stage.bench.add(#""operation": "device", "by": "device", "rate": 0, "burst": 1"#)
        let push = DevicePushTests.start("")
        #expect(try stage.bench.push(to: token, push).status == 200)
        #expect(try stage.bench.push(to: token, push).reason == .tooManyRequests)
        #expect(try stage.bench.push(to: another, push).status == 200)
        let third = try stage.addPhone("carla")
        #expect(try stage.bench.push(to: third, push).status == 429)
        let statuses = try (0..<5).map { _ in try stage.bench.broadcast(on: stage.channel).status }
        #expect(statuses == [200, 200, 200, 200, 200])
    }

    @Test func `with two buckets a request takes from both or from none`() throws {
        var bench = try Bench.withChannels()
        try bench.add(#""name": "app", "by": "app", "rate": 0, "burst": 3"#)
        try bench.add(#""name": "channel", "by": "channel", "rate": 0, "burst": 1"#)
        let statuses = try [bench.none, bench.none, bench.stored, bench.stored].map { channel in
            try bench.broadcast(on: channel).status
        }
        #expect(statuses == [200, 429, 200, 429])
        #expect(try bench.counts("app", at: 0) == .init(taken: 2, refused: 0, allowed: 3))
        #expect(try bench.counts("channel", at: 0) == .init(taken: 2, refused: 2, allowed: 2))
    }

    @Test func `Retry-After says when there is room, if the bucket sends it`() throws {
        var bench = try Bench.withChannels()
        try bench.add(#""name": "b", "by": "app", "rate": 0.25, "burst": 1, "retryAfter": true"#)
        #expect(try bench.broadcast(on: bench.none)[header: "retry-after"] == nil)
        let refused = try bench.broadcast(on: bench.none)
        #expect(refused[header: "retry-after"] == "4")
        #expect(String(decoding: refused.body, as: UTF8.self) == #"{"reason":"TooManyRequests"}"#)
        #expect(try bench.broadcast(on: bench.none, at: Bench.now + 3.5).status == 429)
        #expect(try bench.broadcast(on: bench.none, at: Bench.now + 4).status == 200)
        _ = bench.state.buckets.change("b", now: Bench.now + 4) { $0.saysRetryAfter = false }
        #expect(try bench.broadcast(on: bench.none, at: Bench.now + 4)[header: "retry-after"] == nil)
    }

    @Test func `requests refused with 400 take nothing from a bucket, and broadcasts refused with 429 change nothing`()
        throws
    {
        var stage = try PhoneStage(follower: "anna")
        stage.bench.connection = 3
        stage.bench.state.opened(connection: 3)
        try stage.bench.add(#""name": "b", "by": "connection", "rate": 0, "burst": 1"#)
        #expect(try stage.bench.broadcast(on: "AAAA").status == 400)
        #expect(try stage.bench.broadcast(on: stage.channel, ["apns-priority": "7"]).status == 400)
        #expect(try stage.bench.send("GET", "/1/apps/\(Bench.bundleID)/all-channels").status == 200)
        #expect(try stage.bench.broadcast(on: stage.channel).status == 200)
        let shown = stage.shown("anna")
        let newer = Bench.update.replacing(#""home":1"#, with: #""home":2"#).replacing("1780000000", with: "1780000001")
        let refused = try (0..<120).map { _ in try stage.bench.broadcast(on: stage.channel, [:], newer) }
        #expect(refused.allSatisfy { $0.status == 429 })
        // 429 is not a fault of the request, so it neither slows a connection down nor ends it.
        #expect(refused.allSatisfy { $0.newStreamLimit == nil && !$0.endsConnection })
        #expect(stage.shown("anna") == shown)
        #expect(try stage.bench.counts("b", at: 0) == .init(taken: 1, refused: 120, allowed: 1))
        stage.bench.state.closed(connection: 3)
        #expect(try stage.bench.counts("b", at: 0) == .init(taken: 1, refused: 120, allowed: 1))
    }

    @Test(arguments: [
        (#"{"rate": 1}"#, "by: missing"),
        (#"{"by": "planet", "rate": 1}"#, "by: \"planet\" is not one of app, channel, connection, device"),
        (#"{"by": "channel", "operation": "device", "rate": 1}"#, "channel cannot be used with the operation device"),
        (#"{"by": "app", "rate": -1}"#, "rate: a number from 0"),
        (#"{"by": "app", "rate": 1, "burst": 0}"#, "burst: a number from 1"),
        (#"{"by": "app", "rate": 1, "depth": 2}"#, "\"depth\" is unknown"),
    ])
    func `the error for an invalid bucket names the mistake and its place`(text: String, complaint: String) throws {
        #expect {
            try Bench.bucket(String(text.dropFirst().dropLast()))
        } throws: { "\($0)".hasPrefix("the body") && "\($0)".contains(complaint) }
    }
}

extension Bench {
    /// - Parameter members: the members of a bucket's JSON.
    fileprivate static func bucket(_ members: String) throws -> Bucket {
        try JSONValue(Array("{\(members)}".utf8), at: "the body").read(at: "the body")
    }

    fileprivate mutating func add(_ members: String) throws {
        _ = try state.buckets.add(Self.bucket(members), now: Bench.now)
    }

    fileprivate mutating func counts(_ name: String, at seconds: Double) throws -> Bucket.Counts {
        try #require(state.buckets.change(name, now: Bench.now + seconds) { _ in }).counts
    }
}
