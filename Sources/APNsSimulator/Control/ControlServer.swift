internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The listener of the control API.
final class ControlServer: Sendable {
    private let listener: any Channel
    let port: Int

    private init(_ listener: any Channel) {
        self.listener = listener
        port = listener.localAddress?.port ?? 0
    }

    /// - Throws: if the server cannot listen. The error says what to do.
    static func start(_ router: ControlRouter, host: String, port: Int) async throws(SimulatorError) -> ControlServer {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // A pipelined request waits for the answer before it.
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: true)
                    try channel.pipeline.syncOperations.addHandler(ControlHandler(router))
                }
            }
        do {
            return ControlServer(try await bootstrap.bind(host: host, port: port).get())
        } catch {
            throw SimulatorError(
                "The control API cannot listen on \(host):\(port) (\(error)): choose another --control-port.")
        }
    }

    func stop() async { try? await listener.close() }
}
