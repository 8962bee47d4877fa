internal import Cryptography
internal import Dispatch
internal import FoundationEssentials
internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOEmbedded
internal import NIOTLS

@testable internal import HTTP2

/// Feeds a client's session with bytes of a server, and TLS of both sides with the same bytes: `make fuzz`. libFuzzer
/// calls this, guided by coverage. A crash, a leak, or a call without exactly one outcome is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzedClient.receive(UnsafeBufferPointer(start: bytes, count: count))
    let text = UnsafeBufferPointer(start: bytes, count: count)
    for context in FuzzedTLS.contexts { FuzzedTLS.receive(text, context) }
    return 0
}

/// TLS of a client and of a server, which read the input as their peer's first bytes.
enum FuzzedTLS {
    static let contexts: [TLSContext] = {
        do {
            let key = try PrivateKey.p256()
            let certificate = try Certificate("fuzz", key: key, from: .distantPast, until: .now + 86_400)
            return [
                try .client(.unchecked, protocols: ["h2"]),
                try .server(chain: [certificate], key: key, protocols: ["h2"]),
            ]
        } catch {
            preconditionFailure("no TLS to test: \(error)")
        }
    }()

    static func receive(_ bytes: UnsafeBufferPointer<UInt8>, _ context: TLSContext) {
        guard let handler = try? TLSHandler(context),
            let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 1)
        else { preconditionFailure("no memory") }
        let channel = EmbeddedChannel(handler: handler)
        channel.connect(to: address, promise: nil)
        channel.writeAndFlush(ByteBuffer(string: "text"), promise: nil)
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes.dropFirst()))
        if channel.isActive { channel.close(promise: nil) }
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        precondition(!channel.isActive, "the connection stays open")
        _ = try? channel.finish()
    }
}

/// libFuzzer's loop. This program calls it, because the `main` of the package manager's build replaces libFuzzer's own
/// `main`.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

@main
struct HTTP2Fuzzer {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        let status = runDriver(&count, &arguments) { fuzzOne($0, $1) }
        precondition(status == 0, "libFuzzer ended with \(status)")
    }
}

/// A client without a socket, with three requests in flight and one waiting.
enum FuzzedClient {
    private static let configuration: HTTP2ClientConfiguration = {
        var configuration = HTTP2ClientConfiguration(host: "fuzz.example", port: 443)
        // Small limits, so that inputs of a few kilobytes reach them.
        configuration.maximumHeaderList = 2_048
        configuration.maximumResponseBody = 1_024
        configuration.maximumBufferedBytes = 2_048
        configuration.maximumConcurrentStreams = 3
        return configuration
    }()

    private static let calls = 4

    /// The bytes arrive in pieces, as from a socket. The first byte sets the size of the pieces.
    static func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        let channel = EmbeddedChannel()
        let loop = channel.embeddedEventLoop
        let logger = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
        let ready = loop.makePromise(of: Void.self)
        guard let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 1),
            let client = try? ClientHandler(
                configuration, connectDeadline: .distantFuture, ready: ready, on: loop, logger: logger),
            (try? channel.pipeline.syncOperations.addHandler(client)) != nil
        else { preconditionFailure("no memory") }
        channel.connect(to: address, promise: nil)
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2"))
        let ends = DispatchSemaphore(value: 0)
        for number in 0..<calls { client.start(call(number, endingWith: ends)) }
        let piece = max(1, Int(bytes.first ?? 0) * 4)
        var rest = bytes.dropFirst()
        while !rest.isEmpty {
            _ = try? channel.writeInbound(ByteBuffer(bytes: rest.prefix(piece)))
            loop.run()
            rest = rest.dropFirst(piece)
        }
        // By now every call must have its outcome. A continuation that is resumed twice crashes by itself.
        client.end("the input is over")
        for _ in 0..<calls { precondition(ends.wait(timeout: .now() + 5) == .success, "a call got no answer") }
        let state = client.state.withLockedValue { $0 }
        precondition(state.streamsInUse == 0 && state.waiting == -calls, "a stream was not given back")
        // A channel that is closed removes its handlers on its loop. `finish` would not run the loop then.
        loop.run()
        _ = try? channel.finish()
    }

    /// A call as `HTTP2ClientConnection` makes it, with a caller that waits elsewhere. The call is not counted as
    /// waiting.
    private static func call(_ number: Int, endingWith ends: DispatchSemaphore) -> ClientCall {
        let request = HTTP2Request(
            method: "POST", path: "/\(number)", authority: "fuzz.example", headers: [],
            body: [UInt8](repeating: 120, count: number * 300))
        let call = ClientCall(request, timeout: .seconds(60), now: .now())
        let isReady = DispatchSemaphore(value: 0)
        Task {
            _ = await withCheckedContinuation { continuation in
                call.continuation = continuation
                isReady.signal()
            }
            ends.signal()
        }
        isReady.wait()
        return call
    }
}
