internal import GrandstandServer

extension Server {
    /// Runs the server while `body` runs. `body` gets the port. Returns when the server has stopped.
    func whileRunning(_ body: (Int) async throws -> Void) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            defer { continuation.finish() }
            try await run { continuation.yield($0) }
        }
        func stop() async {
            running.cancel()
            _ = await running.result
        }
        try await withCleanup(stop) {
            for await port in ports { return try await body(port) }
            try await running.value
            throw StartError("the server did not start")
        }
    }
}
