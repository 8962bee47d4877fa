internal import Grandstand
internal import GrandstandContract
internal import Hummingbird

/// `/console/declare`: the form that declares an event.
struct NewEventPages: PageGroup {
    let apps: AppStore

    var routes: [PageRoute] { [PageRoute("/declare", .organise, askForEvent)] }

    var actions: [ActionRoute] { [ActionRoute("/declare", .organise, declare)] }

    private func askForEvent(_ visit: Visit) async throws -> PageRoute.Answer {
        let apps = try await known(visit)
        return .page(NewEvent(.advised(for: apps), apps: apps))
    }

    private func known(_ visit: Visit) async throws -> [Contract.App] {
        try await apps.apps(PageRequest(limit: 50, cursor: nil), within: visit.reach).items
    }

    private func declare(_ submission: Submission) async throws -> PageRoute.Answer {
        let draft = EventForm(fields: submission.fields)
        let apps = try await known(submission.visit)
        let (body, found) = draft.body()
        var faults = found
        let key = EventKey(rawValue: submission.fields["key"] ?? "")
        if key == nil { faults.append(.init(pointer: "key", detail: EventKey.rule)) }
        guard let key, faults.isEmpty else {
            return .refused(NewEvent(draft, apps: apps, faults: faults), status: 422)
        }
        do {
            var call = PageCall(operation: .putEvent, parameters: submission.visit.parameters, body: body)
            call.parameters["key"] = PercentEncoding.encode(key.rawValue)[...]
            call.isNew = true
            _ = try await submission.call(call, finding: .getEvent)
        } catch {
            guard let refusal = APIProblem(error) else { throw error }
            return .refused(NewEvent(draft, apps: apps, refusal: refusal), status: refusal.status)
        }
        return .done(ConsolePath.event(key), notice: "It is declared; its channels are made when their time comes.")
    }
}
