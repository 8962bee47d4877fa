internal import APNsWire
package import FoundationEssentials
package import Grandstand
package import Logging

/// How a quirk is examined: tried by one caller at a time over all replicas, remembered, never guessed per request.
package struct Examinations: Sendable {
    private struct Subject: Hashable {
        let app: Audience.Selector
        let name: Quirk.Name
    }

    private let quirks: any QuirkStore
    /// How long trying both ways may take before somebody else may try.
    private let lease: TimeInterval
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let turnstile = Turnstile<Subject>()

    package init(
        quirks: any QuirkStore, lease: TimeInterval, now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.quirks = quirks
        self.lease = lease
        self.now = now
        self.logger = logger
    }

    /// What an examiner found.
    enum Finding: Sendable {
        /// The value, and what was seen.
        case concluded(String, evidence: String)
        /// Nothing could be told from the answers.
        case nothing
    }

    /// What an examination came to for the one who asked for it.
    enum Outcome<Value: Sendable>: Sendable {
        /// The caller examined, and this is the answer to its own call.
        case examined(Value)
        /// Somebody had concluded this before.
        case known(String)
        /// The store could not be asked: do what is documented.
        case unavailable
    }

    /// Examines, or waits for whoever does.
    ///
    /// - Parameter since: conclusions after this are believed.
    func examine<Value: Sendable>(
        _ name: Quirk.Name, for app: Audience.Selector, concludedSince since: Date,
        _ body: @escaping @Sendable () async -> (answer: Value, finding: Finding)
    ) async -> Outcome<Value> {
        await turnstile.pass(Subject(app: app, name: name)) {
            do {
                while true {
                    switch try await quirks.beginExamination(
                        of: name, for: app, concludedSince: since, now: now(),
                        leasedUntil: now().addingTimeInterval(lease))
                    {
                    case .concluded(let value): return .known(value)
                    case .underWay:
                        // Another replica's goes on; its conclusion is a row, so that is where to look.
                        try await Task.sleep(for: .milliseconds(100))
                    case .begun:
                        let (answer, finding) = await body()
                        await keep(finding, name, app)
                        return .examined(answer)
                    }
                }
            } catch {
                return .unavailable
            }
        }
    }

    private func keep(_ finding: Finding, _ name: Quirk.Name, _ app: Audience.Selector) async {
        do {
            switch finding {
            case .nothing: try await quirks.abandonExamination(of: name, for: app)
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
            logger.warning("quirk was not kept; it will be examined again", metadata: ["error": "\(error)"])
        }
    }
}
