internal import Foundation
internal import UnixSignals

/// After the match: prints calls to try, and waits until the user stops the demo.
struct DemoInvitation: Sendable {
    let stage: DemoStage
    let report: DemoReport

    /// Prints the address, a key and three calls, and waits for SIGINT or SIGTERM.
    func stay() async throws {
        let address = stage.address.absoluteString
        report.line(
            """

            The server stays up at \(address) with a key that may do everything:

              export KEY=\(stage.secret)

            The console, for people: \(address)/console (sign in with that key).

              curl -s -H "Authorization: Bearer $KEY" \(address)/v1/quotas

              curl -s -X PUT -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
                \(address)/v1/events/my-match -d '{"name": "My match", "audiences": [{"bundleId": "\(DemoMatch.bundleID)",
                "environment": "production", "storagePolicy": "noMessageStored"}]}'

              curl -s -X POST -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
                \(address)/v1/events/my-match/broadcasts -d '{"event": "update", "contentState": {"score": "1-0"}}'

            The phones, by the simulator's control API (docs/simulator.md):

              curl -s \(stage.control)/lock-screens

            Ctrl-C ends it.
            """)
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
    }
}
