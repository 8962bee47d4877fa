internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandContract
internal import GrandstandServer
internal import JSON

extension Noun {
    /// The calls that an app makes before it starts an activity, and the list of events that it may offer.
    static let lookup = Noun(
        [
            Verb(
                "lookup", .lookup, "The channels of events, as apps look them up.",
                discussion: """
                    With one event key it shows the channel of that event, with several keys all their channels, \
                    without keys the list for the app. If a channel is being created, it waits and says so on standard \
                    error. Exits 1 unless all requested channels exist.
                    """,
                columns: "eventKey channelId variant storagePolicy state startsAt endsAt", without: ["key", "include"],
                [
                    .arguments("keys", "Event keys."),
                    .flag("content-state", "Include the newest content; only with one event key.", use: .own),
                    .integer(
                        "patience",
                        "Seconds to wait for the channel of one event while it is being created; 0: do not wait. "
                            + "Without it: 30.", use: .own),
                ]
                    + OperationGuide(.lookupList).parameters.filter { $0.place == "query" && $0.name != "variant" }
                    .map { .parameter($0, named: $0.name) }
            ) { try await $0.lookUp() }.checked { given in
                let ofList = ["topic", "state", "from", "to", "limit", "cursor"].filter(given.has)
                guard !given.has("keys") || ofList.isEmpty else {
                    throw ValidationError(
                        ofList.map { "--\($0)" }.joined(separator: ", ")
                            + ": allowed only for the list, without event keys.")
                }
                guard !given.has("content-state") || given.all("keys").count == 1 else {
                    throw ValidationError("--content-state: allowed only with one event key.")
                }
            }
        ])
}

extension Invocation {
    fileprivate func lookUp() async throws {
        let (keys, columns) = (all("keys"), verb.columns)
        switch keys.count {
        case 0: try client.show(try await client.answer(try call(.lookupList)), columns + ["name", "kind", "topics"])
        case 1: try client.show(try await found(keys[0]))
        default:
            var draft = Draft()
            draft.set("eventKeys", texts: keys)
            let answer = try await client.answer(try call(.lookupMany, body: try draft.json))
            try client.show(answer, columns)
            let missing = (answer?["missing"]?.elements ?? []).map { missing in
                "\(missing["eventKey"]?.string ?? ""): \(missing["reason"]?.string ?? "")"
            }
            guard missing.isEmpty else {
                throw StartError("\(missing.count) of \(keys.count) are missing: " + missing.joined(separator: ", "))
            }
        }
    }

    /// The answer about one event. If the event's channel is pending, the call is repeated after the server's
    /// `Retry-After`. If this time would end after `--patience`, the method does not wait and returns the answer.
    private func found(_ key: String) async throws -> JSONValue? {
        let call = try call(with: has("content-state") ? ["key": key, "include": "contentState"] : ["key": key])
        let server = try ServerAccess(isOpen: call.operation.scopes == nil)
        let deadline = ContinuousClock.now + .seconds(self["patience"].flatMap(Int.init) ?? 30)
        while true {
            let answer = try await server.answer(to: call)
            if answer.status == 404 {
                let problem = ServerProblem(answer)
                let seconds = max(1, problem.retryAfter ?? 1)
                if problem.kind == .channelPending, ContinuousClock.now + .seconds(seconds) <= deadline {
                    Terminal.say("\(problem.detail) Asking again in \(seconds) s.")
                    try await Task.sleep(for: .seconds(seconds))
                    continue
                }
            }
            return try ServerAccess.json(of: answer)
        }
    }
}
