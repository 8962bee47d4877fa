internal import CNghttp2
internal import Cryptography
internal import Dispatch
internal import FoundationEssentials
internal import NIOCore
internal import NIOEmbedded

@testable internal import HTTP2

/// Feeds a client's session with bytes of a server, and TLS of both sides with the same bytes: `make fuzz`. libFuzzer
/// calls this, guided by coverage. A crash, a leak, or a call without exactly one outcome is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let streams = ClientStreams(FuzzedClient.configuration)
    guard let session = Session(.client, events: streams) else { return 0 }
    var client = FuzzedClient(streams: streams, session: session)
    client.begin()
    client.receive(UnsafeRawBufferPointer(start: bytes, count: count))
    client.end()
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

/// A client without a NIO channel, with three requests in flight and one waiting.
struct FuzzedClient {
    static let configuration: HTTP2ClientConfiguration = {
        var configuration = HTTP2ClientConfiguration(host: "fuzz.example", port: 443)
        // Small limits, so that inputs of a few kilobytes reach them.
        configuration.maximumHeaderList = 2_048
        configuration.maximumResponseBody = 1_024
        configuration.maximumBufferedBytes = 2_048
        configuration.maximumConcurrentStreams = 3
        return configuration
    }()

    private static let calls = 4

    let streams: ClientStreams
    let session: Session
    private let ends = DispatchSemaphore(value: 0)
    private var isBroken = false

    init(streams: ClientStreams, session: Session) {
        self.streams = streams
        self.session = session
    }

    mutating func begin() {
        streams.secured(session)
        let settings = [nghttp2_settings_entry(NGHTTP2_SETTINGS_ENABLE_PUSH, 0)]
        do { try session.open(settings, connectionWindow: 1 << 20) } catch { isBroken = true }
        for number in 0..<Self.calls { streams.accept(makeCall(number)) }
        drain()
    }

    /// The bytes arrive in pieces, as from a NIO channel. The first byte sets the size of the pieces.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        let piece = max(1, Int(first) * 4)
        var offset = 1
        while offset < bytes.count, !isBroken {
            let end = min(bytes.count, offset + piece)
            do {
                try session.receive(UnsafeRawBufferPointer(rebasing: bytes[offset..<end]))
            } catch {
                isBroken = true
            }
            offset = end
            drain()
        }
    }

    /// By now every call must have its outcome. A continuation that is resumed twice crashes by itself.
    func end() {
        _ = streams.close("the input is over")
        streams.publish()
        for _ in 0..<Self.calls {
            precondition(ends.wait(timeout: .now() + 5) == .success, "a call got no answer")
        }
        precondition(streams.streamsInUse == 0 && streams.waiting == 0, "a stream was not given back")
    }

    private mutating func drain() {
        repeat {
            streams.publish()
            do {
                while try session.nextOutput() != nil {}
            } catch {
                isBroken = true
            }
        } while !isBroken && streams.pump()
        streams.publish()
    }

    /// A call as `HTTP2ClientConnection` makes it, with a caller that waits elsewhere.
    private func makeCall(_ number: Int) -> ClientCall {
        let request = HTTP2Request(
            method: "POST", path: "/\(number)", authority: "fuzz.example", headers: [],
            body: [UInt8](repeating: 120, count: number * 300))
        let call = ClientCall(request, timeout: .seconds(60))
        let isReady = DispatchSemaphore(value: 0)
        let ends = ends
        Task {
            _ = await withUnsafeContinuation { continuation in
                call.continuation = continuation
                isReady.signal()
            }
            ends.signal()
        }
        isReady.wait()
        return call
    }
}
