internal import APNsSimulator
internal import APNsWire
internal import GrandstandClient
internal import GrandstandTestKit
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
        print("saturday, seed \(Self.seed): \(saturday.matches) matches in \(saturday.seconds) s, two replicas")
        #expect(try await saturday.play() == [])
    }
}

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
    /// - Returns: a description of each disagreement.
    func play() async throws -> [String] {
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
            _ = try await SaturdayVerdict(feeders, on: ground)
            return ground.tally.disagreements
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
            case nil: ground.tally.expect(false, "a lookup of \(script.key) had no answer")
            }
            try? await Task.sleep(for: .milliseconds(20 + random.next(below: 60)))
        }
    }
}

/// The steps of the organiser of one match. The seed decides them.
struct SaturdayScript: Sendable {
    enum Deed: Sendable {
        case goal, update
        /// The last goal did not count.
        case correct
        case end, reopen
    }

    struct Step: Sendable {
        let deed: Deed
        /// How long the first attempt waits for its answer; `nil`: as long as it takes.
        let giveUp: Duration?
        /// Whether the call is sent once more after it was answered.
        let isSentTwice: Bool
    }

    let number: Int
    let policy: GrandstandClient.StoragePolicy
    /// `nil`: the audience without a variant.
    let variants: [String?]
    let declaring: Step
    let steps: [Step]

    init(_ number: Int, seed: UInt64) {
        var random = SplitMix(seed: seed &+ UInt64(number) &* 1_000_003)
        func step(_ deed: Deed, _ random: inout SplitMix) -> Step {
            let giveUp = random.next(below: 3) == 0 ? Duration.milliseconds(random.next(below: 30)) : nil
            return Step(deed: deed, giveUp: giveUp, isSentTwice: random.next(below: 5) == 0)
        }
        self.number = number
        policy = random.next(below: 2) == 0 ? .noMessageStored : .mostRecentMessageStored
        // The number of the match decides its kind, so that each kind occurs even among few matches.
        variants = number.isMultiple(of: 2) ? [nil] : [nil, "de", "en"]
        declaring = step(.update, &random)
        var deeds: [Deed] = (0..<(5 + random.next(below: 5))).map { _ in random.next(below: 3) == 0 ? .goal : .update }
        deeds.insert(contentsOf: [.goal, .correct], at: 1 + random.next(below: deeds.count - 1))
        if number % 5 != 4 {
            deeds.append(.end)
            if number % 4 == 1 { deeds += [.reopen, .goal, .update] }
        }
        if number % 8 == 5 { deeds.append(.end) }
        steps = deeds.map { step($0, &random) }
    }

    var key: String { "saturday-\(number)" }
    /// Whether the match is over at the end of the day.
    var isOver: Bool { steps.last?.deed == .end }
}
