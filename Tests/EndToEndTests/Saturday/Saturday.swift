internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit

@testable internal import GrandstandCommand

/// A Saturday. A program feeds matches: it gives up calls early, repeats them, makes mistakes and corrects them.
/// Meanwhile apps make lookups, phones follow matches, and PostgreSQL freezes. In the end all of them must have the
/// same state.
struct Saturday: Sendable {
    let matches: Int
    let seconds: Int
    let freezes: Int
    let seed: UInt64
    /// The longest freeze in seconds.
    let longestFreeze: Int
    private static let apps = 4

    /// Plays the Saturday with two processes of the program.
    ///
    /// - Returns: the summary, and a description of each disagreement.
    func play() async throws -> (summary: String, disagreements: [String]) {
        try await SaturdayGround.with { ground in
            let looking = (0..<Self.apps).map { number in Task { await look(on: ground, number) } }
            defer { for task in looking { task.cancel() } }
            async let freezing: Void = freeze(ground)
            let feeders = try await withThrowingTaskGroup(of: SaturdayFeeder.self) { group in
                for number in 0..<matches {
                    group.addTask {
                        var feeder = SaturdayFeeder(SaturdayScript(number, seed: seed), on: ground)
                        try await feeder.play(for: Double(seconds))
                        return feeder
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try await freezing
            for task in looking { task.cancel() }
            for task in looking { await task.value }
            let verdict = try await SaturdayVerdict(feeders, on: ground)
            return (summary(ground.tally.current, verdict), ground.tally.current.disagreements)
        }
    }

    /// Stops every process of PostgreSQL for some seconds, at moments that the seed gives.
    private func freeze(_ ground: SaturdayGround) async throws {
        var random = SplitMix(seed: seed)
        let start = ContinuousClock.now
        for number in 0..<freezes {
            let share = (Double(number) + Double(20 + random.next(below: 60)) / 100) / Double(freezes)
            try await Task.sleep(until: start + .seconds(Double(seconds) * share), clock: .continuous)
            let length = Duration.milliseconds(1_000 + random.next(below: max(1, longestFreeze - 1) * 1_000))
            try ground.cluster.freeze(true)
            try await Task.sleep(for: length)
            try ground.cluster.freeze(false)
            ground.tally.count("freezes")
            ground.tally.froze(for: length)
        }
    }

    /// An app that makes lookups of random matches, each at a random replica.
    private func look(on ground: SaturdayGround, _ number: Int) async {
        var random = SplitMix(seed: seed &+ UInt64(number))
        while !Task.isCancelled {
            let script = SaturdayScript(random.next(below: matches), seed: seed)
            let variant = script.variants[random.next(below: script.variants.count)]
            let answer = await ground.organiser.attempt(
                .lookup(script.key, in: SaturdayGround.app, include: .contentState, variant: variant),
                turn: random.next(below: 2))
            if Task.isCancelled { return }
            switch answer {
            case .success(let found):
                let isThere = ground.simulator.channels(of: SaturdayGround.bundleID, in: .production)
                    .contains { $0.id == found.channelId }
                ground.tally.expect(isThere, "a lookup of \(script.key) gave \(found.channelId ?? "no channel")")
            case .failure(let problem):
                ground.tally.expect(
                    [404, 410, 503].contains(problem.status), "a lookup of \(script.key) was refused: \(problem)")
                if problem.status == 503 { ground.tally.count("lookups with 503") }
            case nil: ground.tally.expect(false, "a lookup of \(script.key) had no answer")
            }
            ground.tally.count("lookups by apps")
            try? await Task.sleep(for: .milliseconds(20 + random.next(below: 60)))
        }
    }

    private func summary(_ counts: SaturdayGround.Tally.Counts, _ verdict: SaturdayVerdict) -> String {
        let numbers = counts.numbers.merging(verdict.numbers) { $1 }.sorted { $0.key < $1.key }
        return """
            saturday, seed \(seed): \(matches) matches in \(seconds) s, two replicas
            the longest answer after \(Self.text(counts.longest)); frozen for \(Self.text(counts.frozen)) in all
            \(numbers.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
            disagreements \(counts.disagreements.count)\(counts.disagreements.prefix(20).map { "\n    " + $0 }.joined())
            """
    }

    private static func text(_ time: Duration) -> String { "\((time / .milliseconds(100)).rounded() / 10) s" }
}
