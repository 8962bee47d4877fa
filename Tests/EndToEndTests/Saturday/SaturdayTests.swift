internal import Foundation
internal import Testing

/// Matches whose feed is a program that times out, repeats, makes mistakes and corrects them, while PostgreSQL freezes.
///
/// The gate (`.ci/run`) plays some seconds. `GRANDSTAND_SATURDAY_MINUTES=60` plays twenty matches for an hour, and
/// `GRANDSTAND_SATURDAY_SEED` chooses what the program does and when PostgreSQL freezes.
@Suite(.timeLimit(.minutes(120)))
struct SaturdayTests {
    private static let minutes = Drill.number("GRANDSTAND_SATURDAY_MINUTES")
    private static let seed = UInt64(Drill.number("GRANDSTAND_SATURDAY_SEED") ?? 2_026)

    @Test func `after matches during which PostgreSQL freezes, phones, lookups, the API and Apple agree`() async throws
    {
        let saturday =
            if let minutes = Self.minutes {
                Saturday(
                    matches: 20, seconds: minutes * 60, freezes: 6 + minutes / 2, seed: Self.seed, longestFreeze: 8)
            } else {
                Saturday(matches: 6, seconds: 20, freezes: 2, seed: Self.seed, longestFreeze: 3)
            }
        let (summary, disagreements) = try await saturday.play()
        print(summary)
        #expect(disagreements == [])
    }
}
