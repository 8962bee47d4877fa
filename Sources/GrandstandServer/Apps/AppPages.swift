internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// `/console/apps`: the apps, their credentials, and where APNs differs from its documentation for them (quirks).
struct AppPages: PageGroup {
    let operations: AppOperations
    let contents: ContentStore

    var routes: [PageRoute] {
        [PageRoute("/apps", .operate, list), PageRoute("/apps/:bundleId", .operate, show)]
    }

    var actions: [ActionRoute] {
        [
            ActionRoute("/apps", .admin, register), ActionRoute("/apps/:bundleId", .admin, change),
            ActionRoute("/apps/:bundleId/delete", .admin, irreversible: true, delete),
        ]
    }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        .page(AppList(try await operations.list(visit.page, visit.key.reach), visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let bundleID = try visit.bundleID()
        let app = try await operations.app(bundleID)
        let contents = try await contents.contentTypes(of: bundleID, PageRequest(limit: 200, cursor: nil)).items
        return .page(AppDetail(app, bundleID: try app.value.id, contents: contents, visit))
    }

    private func register(_ submission: Submission) async throws -> PageRoute.Answer {
        let bundleID = try BundleID(toWrite: submission.fields["bundleId"] ?? "")
        try await write(bundleID, try AppForm.draft(submission.fields), if: .absent, submission)
        return .done(ConsolePath.app(bundleID), notice: "The app \(bundleID) is registered.")
    }

    private func change(_ submission: Submission) async throws -> PageRoute.Answer {
        let app = try await operations.apps.registered(try submission.visit.bundleID())
        var draft = try AppForm.draft(submission.fields)
        // If the form has no preview fields, the app keeps its preview.
        if !submission.fields.entries.contains(where: { $0.name == "preview.compact" }) { draft.preview = app.preview }
        try await write(try app.id, draft, if: submission.fields.version, submission)
        return .done(submission.visit.path, notice: "The app was changed.")
    }

    /// Writes the app. If the form was sent twice, the second request finds the app with the wanted values and
    /// succeeds.
    private func write(
        _ bundleID: BundleID, _ draft: Contract.AppDraft, if condition: WriteCondition, _ submission: Submission
    ) async throws {
        let caller = try submission.visit.caller(of: .putApp)
        try caller.requireAccess(to: bundleID)
        do {
            _ = try await operations.put(bundleID, draft, if: condition, caller)
        } catch let problem as Problem where problem.kind == .versionMismatch {
            guard try await operations.isRegistered(bundleID, as: draft) else { throw problem }
        }
    }

    private func delete(_ submission: Submission) async throws -> PageRoute.Answer {
        let bundleID = try submission.visit.bundleID()
        do {
            try await operations.delete(bundleID, submission.visit.caller(of: .deleteApp))
        } catch let problem as Problem where problem.kind == .appNotFound {
            // The app is already deleted: the form was sent twice.
        }
        return .done(ConsolePath.apps, notice: "The app \(bundleID) is deleted. A long history is removed bit by bit.")
    }
}
