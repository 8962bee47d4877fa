internal import APNsWire
package import FoundationEssentials
package import Grandstand
package import Logging

/// How a quirk is examined: tried by one caller at a time over all replicas, remembered, never guessed per request.
package struct Examinations: Sendable {
    private struct Subject: Hashable {
        let app: AppEnvironment
        let name: Quirk.Name
    }

    private let quirks: any QuirkStore
    /// Seconds that trying both ways may take before another caller may try.
    private let lease: TimeInterval
    /// Seconds that another replica's examination is waited for.
    private let timeout: TimeInterval
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let flight = SingleFlight<Subject, Finding>()

    /// Seconds between two looks at another replica's examination.
    private static let pause: TimeInterval = 0.1

    package init(
        quirks: any QuirkStore, lease: TimeInterval, timeout: TimeInterval, now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.quirks = quirks
        self.lease = lease
        self.timeout = timeout
        self.now = now
        self.logger = logger
    }

    /// The conclusion of an examiner.
    enum Finding: Sendable {
        /// The value, and the observation.
        case concluded(String, evidence: String)
        /// Nothing could be told from the answers.
        case nothing
        /// The store could not be asked.
        case unavailable
    }

    /// The outcome of an examination for its caller.
    enum Outcome<Value: Sendable>: Sendable {
        /// The caller examined, and this is the answer to its own call.
        case examined(Value)
        /// Another caller has concluded this.
        case known(String)
        /// Another caller examines, or did without a conclusion: try again later.
        case inconclusive
        /// The store could not be asked: go by the documentation.
        case unavailable
    }

    /// Examines, or learns from the caller that does: nobody examines because another has just found nothing, so that a
    /// silent Apple delays every caller by one examination, not by all of them.
    ///
    /// - Parameters:
    ///   - since: conclusions after this are believed.
    ///   - waits: for an examination that goes on, at most `timeout` and the time of an examination.
    func examine<Value: Sendable>(
        _ name: Quirk.Name, for app: AppEnvironment, concludedSince since: Date, waits: Bool,
        _ body: @escaping @Sendable () async -> (answer: Value, finding: Finding)
    ) async -> Outcome<Value> {
        let outcome = await flight.run(Subject(app: app, name: name), waits: waits) {
            await begin(name, app, since, waits: waits, body)
        }
        switch outcome {
        case .ran(let outcome): return outcome
        case .joined(.concluded(let value, _)): return .known(value)
        case .joined(.nothing), .busy: return .inconclusive
        case .joined(.unavailable): return .unavailable
        }
    }

    /// How many wait for an examination of this process.
    var waiting: Int { get async { await flight.waiting.values.reduce(0) { $0 + $1.count } } }

    private func begin<Value: Sendable>(
        _ name: Quirk.Name, _ app: AppEnvironment, _ since: Date, waits: Bool,
        _ body: @Sendable () async -> (answer: Value, finding: Finding)
    ) async -> (value: Outcome<Value>, finding: Finding) {
        do {
            for _ in 0..<(waits ? max(1, Int(timeout / Self.pause)) : 1) {
                switch try await quirks.beginExamination(
                    of: name, for: app, concludedSince: since, now: now(),
                    leasedUntil: now().addingTimeInterval(lease))
                {
                case .concluded(let value): return (.known(value), .concluded(value, evidence: "concluded before"))
                case .underWay:
                    // Another replica's goes on; its conclusion is a row, so that is where to look.
                    if waits { try await Task.sleep(for: .seconds(Self.pause)) }
                case .begun:
                    let (answer, finding) = await body()
                    await keep(finding, name, app)
                    return (.examined(answer), finding)
                }
            }
            return (.inconclusive, .nothing)
        } catch {
            return (.unavailable, .unavailable)
        }
    }

    private func keep(_ finding: Finding, _ name: Quirk.Name, _ app: AppEnvironment) async {
        do {
            switch finding {
            case .nothing, .unavailable: try await quirks.abandonExamination(of: name, for: app)
            case .concluded(let value, let evidence):
                let quirk = Quirk(
                    environment: app.environment, name: name, value: value, learnedAt: now(), evidence: evidence,
                    believedUntil: now().addingTimeInterval(Quirk.belief))
                try await quirks.conclude(quirk, for: app, by: .server)
                guard quirk.isDeparture else { return }
                logger.notice(
                    "quirk learned",
                    metadata: [
                        "app": "\(app.bundleID)", "environment": "\(app.environment.rawValue)",
                        "quirk": "\(name.rawValue)", "value": "\(value)",
                    ])
            }
        } catch {
            // The examination's lease runs out, and the next call examines again.
            logger.failed("quirk was not kept; it will be examined again", error, at: .warning)
        }
    }
}
