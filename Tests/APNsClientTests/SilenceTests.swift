internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import HTTP2
internal import Testing

@testable internal import APNsClient

/// Calls without an answer. What counts is whether APNs may have processed them.
@Suite(.timeLimit(.minutes(1)))
struct SilenceTests {
    @Test func `a request that reached APNs and got no answer is unanswered, and is not repeated`() async throws {
        // The timeout is long enough for a busy machine to connect.
        try await ClientAndSimulator.with(settings: { $0.requestTimeout = .seconds(3) }) { pair in
            let channelID = try await pair.makeChannel()
            pair.simulator.dropNext()
            #expect(
                await pair.client.send(ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address)
                    .isUnanswered)
            #expect(pair.simulator.journal().count { $0.request.path.hasPrefix("/4/") } == 1)
            // The next request is answered.
            _ = try await pair.client.send(ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address)
                .value()
        }
    }

    @Test func `when a connection ends, its requests are unanswered`() async throws {
        try await ClientAndSimulator.with { pair in
            let channelID = try await pair.makeChannel()
            let hold = pair.simulator.hold { $0.path.hasPrefix("/4/") }
            async let answer = pair.client.send(
                ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address)
            try await pair.simulator.requests(1) { $0.request.path.hasPrefix("/4/") }
            #expect(hold.count == 1)
            await pair.simulator.stop()
            #expect(await answer.isUnanswered)
        }
    }

    @Test func `without a key file nothing is sent, and the error names the file`() async throws {
        try await ClientAndSimulator.with { pair in
            var address = ClientAndSimulator.address
            address.credentials = KeyFolder.credentials
            let why = try #require(
                await pair.client.send(ClientAndSimulator.message(to: "dGVzdA=="), to: address).withheld)
            #expect(why.contains("AuthKey_KEY4567890.p8"))
            #expect(pair.simulator.journal().isEmpty)
            #expect(
                await pair.client.keyFile(
                    of: KeyUse(credentials: address.credentials, environment: address.environment)) == .missing)
            #expect(await pair.client.keyFile(of: ClientAndSimulator.use) == .ok)
        }
    }

    @Test func `without a connection nothing is sent`() async throws {
        try await ClientAndSimulator.with(settings: { $0.requestTimeout = .milliseconds(300) }) { pair in
            await pair.simulator.stop()
            let why = try #require(
                await pair.client.send(ClientAndSimulator.message(to: "dGVzdA=="), to: ClientAndSimulator.address)
                    .unsent)
            #expect(!why.isEmpty)
        }
    }

    @Test func `a server that is not trusted gets no request`() async throws {
        let other = try KeyFolder()
        try await ClientAndSimulator.with(options: { _ in }) { stranger in
            try await ClientAndSimulator.with { pair in
                let client = try ClientAndSimulator.client(
                    pair.addresses, keys: other.path,
                    settings: {
                        $0.trustRoots = .file(stranger.addresses.caFile)
                        $0.requestTimeout = .seconds(2)
                    })
                try FileManager.default.copyItem(
                    atPath: pair.addresses.keyFile, toPath: other.file(SimulatorIdentity.keyID))
                let why = try #require(
                    await client.send(ClientAndSimulator.message(to: "dGVzdA=="), to: ClientAndSimulator.address).unsent
                )
                #expect(!why.isEmpty)
                #expect(pair.simulator.journal().isEmpty)
                await client.close()
            }
        }
    }

    @Test func `without an endpoint nothing is sent`() async throws {
        try await ClientAndSimulator.with(settings: { $0.endpoints.send[.development] = nil }) { pair in
            #expect(
                await pair.client.send(ClientAndSimulator.message(to: "dGVzdA=="), to: ClientAndSimulator.address)
                    .withheld != nil)
            _ = try await pair.makeChannel()
        }
    }

    @Test func `after close nothing is sent`() async throws {
        try await ClientAndSimulator.with { pair in
            let channelID = try await pair.makeChannel()
            await pair.client.close()
            let sent = pair.simulator.journal().count
            #expect(
                await pair.client.send(ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address).unsent
                    != nil)
            #expect(pair.simulator.journal().count == sent)
        }
    }

    @Test func `an expired token is renewed once, and the call is repeated`() async throws {
        try await ClientAndSimulator.with(clock: Self.clock()) { pair, clock in
            let channelID = try await pair.makeChannel()
            clock.advance(by: 1_300)
            pair.simulator.answerNext(with: .refusal(.expiredProviderToken)) { $0.path.hasPrefix("/4/") }
            _ = try await pair.client.send(ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address)
                .value()
            let entries = pair.simulator.journal().filter { $0.request.path.hasPrefix("/4/") }
            #expect(entries.map(\.status) == [403, 200])
            #expect(Set(entries.map { $0.request[header: "authorization"] }).count == 2)
            #expect(Set(entries.map { $0.request[header: "apns-request-id"] }).count == 1)
        }
    }

    @Test func `a second refusal of the token is returned to the caller`() async throws {
        try await ClientAndSimulator.with(clock: Self.clock()) { pair, clock in
            let channelID = try await pair.makeChannel()
            clock.advance(by: 1_300)
            pair.simulator.answerNext(5, with: .refusal(.expiredProviderToken))
            let answer = await pair.client.send(
                ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address)
            #expect(answer.refusal?.reason == .expiredProviderToken)
            #expect(pair.simulator.journal().count == 3)
        }
    }

    @Test func `a token that is too new to be replaced is not replaced, because a clock must be wrong`() async throws {
        try await ClientAndSimulator.with(clock: Self.clock()) { pair, _ in
            pair.simulator.answerNext(5, with: .refusal(.expiredProviderToken))
            let answer = await pair.client.send(
                ClientAndSimulator.message(to: "dGVzdA=="), to: ClientAndSimulator.address)
            #expect(answer.refusal?.reason == .expiredProviderToken)
            #expect(pair.simulator.journal().count == 1)
        }
    }

    @Test func `if APNs refuses a new token as too soon, the previous one is used again`() async throws {
        try await ClientAndSimulator.with(clock: Self.clock()) { pair, clock in
            let channelID = try await pair.makeChannel()
            clock.advance(by: 3_000)
            // This call starts the renewal and is still sent with the old token.
            _ = try await pair.client.send(ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address)
                .value()
            await pair.client.tokens.settled(ClientAndSimulator.address.credentials)
            pair.simulator.answerNext(with: .refusal(.tooManyProviderTokenUpdates))
            _ = try await pair.client.send(ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address)
                .value()
            let tokens = pair.simulator.journal().map { $0.request[header: "authorization"] }
            #expect(tokens.count == 4)
            #expect(tokens[0] == tokens[1])
            #expect(tokens[2] != tokens[1])
            #expect(tokens[3] == tokens[1])
        }
    }

    @Test func `many calls at once share the connections and are all answered`() async throws {
        try await ClientAndSimulator.with { pair in
            let channelID = try await pair.makeChannel()
            let accepted = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        await pair.client.send(
                            ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address
                        ).receipt != nil
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(accepted == 200)
            let entries = pair.simulator.journal()
            #expect((1...2).contains(Set(entries.map(\.request.connection)).count))
            #expect(Set(entries.compactMap { $0.request[header: "authorization"] }).count == 1)
        }
    }

    /// The clock stands at the last multiple of ten minutes. A token's time of issue is rounded down to such a
    /// multiple, so a new token is issued at exactly this time. The clock is close to the machine's clock, by which
    /// certificates are checked.
    private static func clock() -> HeldClock {
        HeldClock((Date().timeIntervalSince1970 / 600).rounded(.down) * 600)
    }
}

extension ClientAndSimulator {
    /// Runs `body` with a simulator and a client that use this clock.
    fileprivate static func with(clock: HeldClock, _ body: (ClientAndSimulator, HeldClock) async throws -> Void)
        async throws
    {
        try await with(options: { $0.now = { clock.now } }, now: { clock.now }) { try await body($0, clock) }
    }
}
