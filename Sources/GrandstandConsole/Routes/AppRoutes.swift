internal import APNsWire
internal import Grandstand
internal import JSON

/// `/console/apps`: the apps, their credentials, and what was learned of APNs' behaviour towards them.
struct AppRoutes: RouteGroup {
    let apps: any AppStore
    let quirks: any QuirkStore
    let gateway: any APNsGateway

    var routes: [PageRoute] {
        [PageRoute("/apps", .operate, list), PageRoute("/apps/:bundleId", .operate, show)]
    }

    var actions: [ActionRoute] {
        [
            ActionRoute("/apps", .admin, register), ActionRoute("/apps/:bundleId", .admin, change),
            ActionRoute("/apps/:bundleId/:environment/quirks/:quirk", .admin, setQuirk),
            ActionRoute("/apps/:bundleId/delete", .admin, irreversible: true, delete),
        ]
    }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        let page = try await apps.apps(visit.page, within: visit.key.reach)
        var records: [AppList.Record] = []
        for app in page.items { records.append((app, await gateway.keyFiles(of: app))) }
        return .page(AppList(records, nextCursor: page.nextCursor, visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let app = try await apps.registered(try visit.bundleID())
        let departures = try await quirks.quirks(of: app.bundleID).filter(\.isDeparture)
        // What the form shows beyond what the port has.
        let answer = visit.key.holds(.admin) ? try? await visit.get(Self.path(app.bundleID.rawValue)) : nil
        return .page(
            AppDetail(
                app, keyFiles: await gateway.keyFiles(of: app), quirks: departures, answer: answer, visit))
    }

    private func register(_ submission: Submission) async throws -> PageRoute.Answer {
        let bundleID = submission.fields["bundleId"] ?? ""
        let call = APICall(
            "PUT", Self.path(bundleID), body: AppForm.body(submission.fields, present: nil), ifNoneMatch: "*")
        _ = try await submission.write(call).accepted()
        return .done(
            ConsolePath.apps + "/" + PercentEncoding.encode(bundleID), notice: "The app \(bundleID) is registered.")
    }

    /// What the form does not speak of stays as it is.
    private func change(_ submission: Submission) async throws -> PageRoute.Answer {
        let path = Self.path(submission.visit.parameter("bundleId") ?? "")
        let present = try await submission.call(APICall("GET", path)).accepted().json()
        let call = APICall(
            "PUT", path, body: AppForm.body(submission.fields, present: present), ifMatch: submission.fields["etag"])
        _ = try await submission.write(call).accepted()
        return .done(submission.visit.path, notice: "The app was changed.")
    }

    private func delete(_ submission: Submission) async throws -> PageRoute.Answer {
        let bundleID = submission.visit.parameter("bundleId") ?? ""
        try await submission.delete(Self.path(bundleID))
        return .done(ConsolePath.apps, notice: "The app \(bundleID) is not registered any more.")
    }

    private func setQuirk(_ submission: Submission) async throws -> PageRoute.Answer {
        let visit = submission.visit
        var json = JSONWriter()
        json.object { $0.member("value", submission.fields["value"] ?? "") }
        let names = ["environment", "quirk"].map { visit.segment($0) }
        let path = "\(Self.path(visit.parameter("bundleId") ?? ""))/\(names[0])/quirks/\(names[1])"
        return try await submission.done(
            APICall("PUT", path, body: json.bytes), at: ConsolePath.apps + "/" + visit.segment("bundleId"),
            "From now on the server goes by what you set.")
    }

    private static func path(_ bundleID: String) -> String { "/v1/apps/" + PercentEncoding.encode(bundleID) }
}
