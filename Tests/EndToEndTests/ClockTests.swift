internal import Foundation
internal import Testing

@testable internal import GrandstandServer

/// A server whose machine's clock is wrong. `DatabaseClockTests` have one whose clock becomes wrong while it runs.
@Suite(.timeLimit(.minutes(20)))
struct ClockTests {
    @Test func `a server whose clock is more than 10 s off does not start, and says what to do`() async throws {
        try await Stage.place { environment, _ in
            for seconds in [-11.0, 11, 3_600] {
                let error = await #expect(throws: StartError.self) {
                    _ = try await Server.build(
                        try Configuration(environment: environment), wallClock: { Date() + seconds },
                        logger: Stage.logger)
                }
                let text = "\(error?.description ?? "")"
                #expect(
                    text.contains(seconds < 0 ? "11.0 s behind the database's" : "s ahead of the database's"), "\(text)"
                )
                #expect(text.contains("NTP"))
                #expect(!text.contains("\n"))
            }
        }
    }
}
