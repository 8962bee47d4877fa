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
        do {
            let (key, body) = try draft.declaration()
            var call = PageCall(operation: .putEvent, parameters: submission.visit.parameters, body: body)
            call.parameters["key"] = PercentEncoding.encode(key.rawValue)[...]
            call.isNew = true
            _ = try await submission.call(call)
            return .elsewhere(
                ConsolePath.event(key), notice: "It is declared; its channels are made when their time comes.")
        } catch {
            guard let refusal = Problem(shown: error) else { throw error }
            return .page(NewEvent(draft, apps: apps, refusal: refusal), status: refusal.status)
        }
    }
}
