internal import Foundation
internal import MatchDay
internal import Testing

/// Matches whose feed is a program that times out, repeats, makes mistakes and corrects them, while PostgreSQL freezes.
/// scripts/saturday plays twenty of them for an hour.
@Suite(.timeLimit(.minutes(5)))
struct SaturdayTests {
    @Test func `after matches during which PostgreSQL freezes, phones, lookups, the API and Apple agree`() async throws
    {
        let program = Bundle.main.bundleURL.appending(path: "grandstand").path
        let saturday = Saturday(matches: 6, seconds: 20, freezes: 2, seed: 2_026, longestFreeze: 3)
        let (summary, disagreements) = try await saturday.play(program: program, logger: Stage.logger)
        print(summary)
        #expect(disagreements == [])
    }
}
