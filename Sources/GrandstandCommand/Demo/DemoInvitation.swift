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
              GRANDSTAND_URL=\(address) GRANDSTAND_API_KEY=$KEY grandstand call listEvents
              curl -s \(stage.control)/lock-screens

            README.md and docs/organising.md have more; docs/simulator.md describes the phones.
            Ctrl-C ends it.
            """)
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
    }
}
