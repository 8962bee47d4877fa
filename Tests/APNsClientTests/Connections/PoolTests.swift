internal import APNsClient
internal import Foundation
internal import Grandstand
internal import HTTP2
internal import Synchronization
internal import Testing

/// The pool against servers that close, refuse, fall silent and come back: the failure table in
/// docs/internals/http2.md.
@Suite(.timeLimit(.minutes(1)))
struct PoolTests {
    /// Sends `count` messages, `width` at a time, and counts the answers.
    private static func flood(_ count: Int, width: Int, by client: APNsClient, into tally: Tally) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= width { await group.next() }
                group.addTask {
                    switch await FaultServer.send(number, by: client) {
                    case .accepted: tally.add("accepted")
                    case .refused(let refusal): tally.add("refused \(refusal.reason)")
                    case .unanswered(let why): tally.add("unanswered \(why)")
                    case .unsent(let why), .withheld(let why): tally.add("unsent \(why)")
                    }
                }
            }
        }
    }

    @Test func `a rolling GOAWAY under load neither loses nor doubles a message`() async throws {
        let (seen, answers) = (Tally(), Tally())
        // Each connection accepts 230 requests. When the next one arrives, the server sends GOAWAY, and does not
        // process the requests after the 230th.
        let perConnection = Tally()
        try await FaultServer.with(answering: { request, stream in
            if let last = stream.connection.withUserInfo({ $0 as? Int }), stream.id > last {
                return stream.connection.goAway(
                    code: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8), lastStream: last)
            }
            seen.add(request.channel)
            stream.accept()
            if perConnection.add("\(stream.connection.id)") == 230 {
                stream.connection.withUserInfo { $0 = stream.id }
            }
        }) { stage in
            await Self.flood(4_000, width: 150, by: stage.client, into: answers)
            #expect(answers.all == ["accepted": 4_000])
            #expect(seen.all.count == 4_000)
            #expect(seen.all.values.allSatisfy { $0 == 1 })
            #expect(stage.server.connectionsEver >= 4_000 / 400)
        }
    }

    @Test func `refused streams are repeated, and no connection is closed`() async throws {
        let (seen, answers, arrivals) = (Tally(), Tally(), Tally())
        try await FaultServer.with(answering: { request, stream in
            if arrivals.add("all").isMultiple(of: 10) {
                stream.reset(code: HTTP2ErrorCode.refusedStream.rawValue)
            } else {
                seen.add(request.channel)
                stream.accept()
            }
        }) { stage in
            await Self.flood(3_000, width: 150, by: stage.client, into: answers)
            #expect(answers.all == ["accepted": 3_000])
            #expect(seen.all.values.allSatisfy { $0 == 1 })
            #expect(stage.server.connections.count == stage.server.connectionsEver)
        }
    }

    @Test func `a refused request goes to another connection`() async throws {
        let refusing = Mutex<Int?>(nil)
        let serving = Mutex<Set<Int>>([])
        let tries = Tally()
        let gate = StreamGate()
        try await FaultServer.with(answering: { request, stream in
            let isRefused = refusing.withLock { $0 == stream.connection.id }
            tries.add(request.channel)
            if isRefused { return stream.reset(code: HTTP2ErrorCode.refusedStream.rawValue) }
            if ["channel-1", "channel-2"].contains(request.channel), gate.keep(stream) { return }
            serving.withLock { _ = $0.insert(stream.connection.id) }
            stream.accept()
        }) { stage in
            #expect(await FaultServer.send(0, by: stage.client).receipt != nil)
            // Two requests are in flight at the same time, and both are held. The second request opens another
            // connection.
            async let first = FaultServer.send(1, by: stage.client)
            await gate.arrivals(1)
            async let second = FaultServer.send(2, by: stage.client)
            await stage.server.openings(2)
            await gate.arrivals(1)
            // Sends more requests until the second connection has answered one. The client prefers the second
            // connection, because this connection has fewer requests in flight.
            var number = 100
            while serving.withLock({ $0.count }) < 2 {
                #expect(await FaultServer.send(number, by: stage.client).receipt != nil)
                number += 1
            }
            refusing.withLock { $0 = stage.server.connections.map(\.id).min() }
            gate.release()
            #expect(await first.receipt != nil)
            #expect(await second.receipt != nil)
            for number in 10..<20 { #expect(await FaultServer.send(number, by: stage.client).receipt != nil) }
            #expect((10..<20).allSatisfy { tries["channel-\($0)"] <= 2 })
        }
    }

    @Test func `when APNs refuses a channel, it accepted the token, so more than one stream is used`() async throws {
        let gate = StreamGate()
        try await FaultServer.with(
            settings: {
                $0.connections = 1
                $0.maximumConnections = 1
            },
            answering: { request, stream in
                if request.channel == "channel-0" { return stream.refuse(400, "BadChannelId") }
                if !gate.keep(stream) { stream.accept() }
            }
        ) { stage in
            #expect(await FaultServer.send(0, by: stage.client).refusal != nil)
            async let first = FaultServer.send(1, by: stage.client)
            async let second = FaultServer.send(2, by: stage.client)
            await gate.arrivals(2)
            gate.release()
            #expect(await first.receipt != nil)
            #expect(await second.receipt != nil)
        }
    }

    @Test func `when a connection is cut, its requests are unanswered and the others are accepted`() async throws {
        let gate = StreamGate()
        try await FaultServer.with(
            settings: {
                $0.connections = 1
                $0.maximumConnections = 1
            },
            answering: { request, stream in
                if request.channel != "channel-held" || !gate.keep(stream) { stream.accept() }
            }
        ) { stage in
            #expect(await FaultServer.send(0, by: stage.client).receipt != nil)
            async let held = stage.client.send(
                ClientAndSimulator.message(to: "channel-held"), to: ClientAndSimulator.address)
            await gate.arrivals(1)
            for connection in stage.server.connections { connection.close() }
            #expect(await held.isUnanswered)
            #expect(await FaultServer.send(1, by: stage.client).receipt != nil)
            #expect(stage.server.connectionsEver == 2)
        }
    }

    @Test func `a call without an answer is unanswered at its deadline, and its connection stays open`() async throws {
        let gate = StreamGate()
        try await FaultServer.with(
            settings: { $0.requestTimeout = .seconds(3) },
            answering: { request, stream in
                if request.channel != "channel-held" || !gate.keep(stream) { stream.accept() }
            }
        ) { stage in
            #expect(await FaultServer.send(0, by: stage.client).receipt != nil)
            #expect(
                await stage.client.send(ClientAndSimulator.message(to: "channel-held"), to: ClientAndSimulator.address)
                    .isUnanswered)
            #expect(await FaultServer.send(1, by: stage.client).receipt != nil)
            #expect(stage.server.connections.count == stage.server.connectionsEver)
        }
    }

    @Test func `while the server is down calls wait, and they are accepted when it is back`() async throws {
        let folder = try KeyFolder()
        try await FaultServer.makeFiles(in: folder.path)
        let first = try await FaultServer.start(.handler { _, stream in stream.accept() }, folder.path, port: 0)
        let port = first.port
        let client = try FaultServer.client(port: port, folder: folder.path)
        #expect(await FaultServer.send(1, by: client).receipt != nil)
        await first.stop()

        let answers = Tally()
        async let flooded: Void = Self.flood(200, width: 200, by: client, into: answers)
        let back = try await FaultServer.start(.handler { _, stream in stream.accept() }, folder.path, port: port)
        await flooded
        #expect(answers.all == ["accepted": 200])
        await client.close()
        await back.stop()
    }

    @Test func `a server that is not trusted is reported at once, not after the timeout`() async throws {
        let other = try KeyFolder()
        try await FaultServer.makeFiles(in: other.path)
        try await FaultServer.with(answering: { _, stream in stream.accept() }) { stage in
            let client = try FaultServer.client(port: stage.port, folder: stage.folder) {
                $0.trustRoots = .file(other.path + "/ca.pem")
                $0.requestTimeout = .seconds(300)
            }
            let why = try #require(await FaultServer.send(1, by: client).unsent)
            #expect(why.contains("trusted authority"), "\(why)")
            // The second call fails in the same way, without another attempt to connect.
            #expect(await FaultServer.send(2, by: client).unsent == why)
            await client.close()
        }
    }

    @Test func `under load the pool grows to its maximum and no further`() async throws {
        let gate = StreamGate()
        let proofs = Tally()
        try await FaultServer.with(
            settings: {
                $0.connections = 1
                $0.maximumConnections = 3
            },
            answering: { _, stream in
                // The first request of each connection is answered, so that the client knows that APNs accepted the
                // client's token on this connection. The other requests are held.
                if proofs.add("\(stream.connection.id)") == 1 || !gate.keep(stream) { stream.accept() }
            }
        ) { stage in
            let answers = Tally()
            async let first: Void = Self.flood(300, width: 300, by: stage.client, into: answers)
            await gate.arrivals(299)
            // One more request is sent when the only connection is known to be full.
            async let second: Void = Self.flood(1, width: 1, by: stage.client, into: answers)
            await stage.server.openings(2)
            async let third: Void = Self.flood(300, width: 300, by: stage.client, into: answers)
            await gate.arrivals(200)
            gate.release()
            _ = await (first, second, third)
            #expect(answers.all == ["accepted": 601])
            #expect((2...3).contains(stage.server.connectionsEver))
        }
    }

    @Test func `when the client closes, calls that wait for a connection fail`() async throws {
        let folder = try KeyFolder()
        try await FaultServer.makeFiles(in: folder.path)
        // A port on which nothing listens.
        let server = try await FaultServer.start(.handler { _, stream in stream.accept() }, folder.path, port: 0)
        let port = server.port
        await server.stop()
        let client = try FaultServer.client(port: port, folder: folder.path)
        async let answer = FaultServer.send(1, by: client)
        await client.close()
        let why = try #require(await answer.unsent)
        #expect(!why.isEmpty)
    }

    @Test func `a cancelled call does not wait for a connection`() async throws {
        let folder = try KeyFolder()
        try await FaultServer.makeFiles(in: folder.path)
        let server = try await FaultServer.start(.handler { _, stream in stream.accept() }, folder.path, port: 0)
        let port = server.port
        await server.stop()
        let client = try FaultServer.client(port: port, folder: folder.path) { $0.requestTimeout = .seconds(300) }
        let call = Task { await FaultServer.send(1, by: client) }
        call.cancel()
        #expect(await call.value.unsent != nil)
        await client.close()
    }
}
