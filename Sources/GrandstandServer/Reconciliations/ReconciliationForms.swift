internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The forms that run a reconciliation. Each form says what it will do; forms for actions that cannot be undone also
/// ask for the key.
struct ReconciliationForms: PageGroup {
    let apps: AppStore
    let operations: Reconciliation
    let limits: ReconciliationOptions

    private static let base = "/apps/:bundleId/:environment/reconciliations/run/"

    var routes: [PageRoute] {
        Reconciling.allCases.filter { $0 != .look }.map { doing in
            PageRoute(Self.base + doing.rawValue, .operate) { try await ask(doing, $0) }
        }
    }

    var actions: [ActionRoute] {
        Reconciling.allCases.map { doing in
            ActionRoute(Self.base + doing.rawValue, .operate, irreversible: doing.isIrreversible) {
                try await run(doing, $0)
            }
        }
    }

    private func ask(_ doing: Reconciling, _ visit: Visit) async throws -> PageRoute.Answer {
        let app = try visit.app()
        _ = try await apps.registered(app.bundleID)
        return .page(
            Question(
                "\(doing.label)?", [doing.words],
                facts: [
                    Fact("App", .quoted(app.bundleID.rawValue)), Fact("Environment", .words(app.environment.rawValue)),
                ], choices: [Question.Option(doing.label, isDanger: doing.isIrreversible)],
                irreversible: doing.isIrreversible, action: ConsolePath.reconciling(app, doing),
                back: ("Leave it", ConsolePath.reconciliations(app))))
    }

    private func run(_ doing: Reconciling, _ submission: Submission) async throws -> PageRoute.Answer {
        let app = try submission.visit.app()
        let options = doing.options(within: limits)
        // There is nothing to recover: an interrupted reconciliation is run again.
        let report = try await submission.once(
            .reconcile, recover: { _ in nil },
            { try await operations.reconcile(app, options, by: $0.actor) })
        return .done(
            ConsolePath.reconciliation(report.id, of: app),
            notice: doing == .look
                ? "It only looked: nothing was changed." : "It was carried out; see what became of each line.")
    }
}
