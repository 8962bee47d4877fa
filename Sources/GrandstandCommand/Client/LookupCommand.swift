internal import ArgumentParser
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

/// `grandstand lookup`: the calls that an app makes before it starts an activity, and the list of events that it may
/// offer.
struct LookupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "The channels of events, as apps look them up.",
        discussion:
            "With one event key it shows the channel of that event, with several keys all their channels, without "
            + "keys the list for the app. If a channel is being created, it waits and says so on standard error. Exits "
            + "1 unless all requested channels exist.")

    private static let columns = ["eventKey", "channelId", "variant", "storagePolicy", "state", "startsAt", "endsAt"]

    @OptionGroup var client: ClientOptions
    @OptionGroup var page: PageOptions
    @OptionGroup var target: AppOptions
    @Argument(help: "Event keys.") var keys: [String] = []
    @Option(help: "The variant. Without it: the audience without a variant, else the first that is not over.")
    var variant: String?
    @Flag(help: "Include the newest content; only with one event key.") var contentState = false
    @Option(help: "Seconds to wait for the channel of one event while it is being created; 0: do not wait.")
    var patience = 30
    @Option(help: "For the list: only events with this topic.") var topic: String?
    @Option(help: "For the list: only scheduled, or only live events.") var state: Word<Contract.FollowableState>?
    @Option(help: "For the list: only events that start at or after this time (RFC 3339).") var from: Moment?
    @Option(help: "For the list: only events that start before this time (RFC 3339).") var to: Moment?

    func validate() throws {
        let ofList = [
            ("--topic", topic != nil), ("--state", state != nil), ("--from", from != nil), ("--to", to != nil),
            ("--limit", page.limit != nil), ("--cursor", page.cursor != nil),
        ].filter(\.1).map(\.0)
        guard keys.isEmpty || ofList.isEmpty else {
            throw ValidationError(
                "\(ofList.joined(separator: ", ")): allowed only for the list, without event keys.")
        }
        guard !contentState || keys.count == 1 else {
            throw ValidationError("--content-state: allowed only with one event key.")
        }
    }

    func run() async throws {
        switch keys.count {
        case 0:
            try await client.show(
                page.of(
                    .lookupList(
                        in: target.app, topic: topic, from: from?.date, to: to?.date, state: state?.value,
                        variant: variant)),
                Self.columns + ["name", "kind", "topics"])
        case 1:
            try client.show(
                try await found(.lookup(keys[0], in: target.app, variant: variant, contentState: contentState)))
        default:
            let answer = try await client.answer(.lookupMany(keys, in: target.app, variant: variant))
            try client.show(answer, Self.columns)
            let missing = (answer?["missing"]?.elements ?? []).map { missing in
                "\(missing["eventKey"]?.string ?? ""): \(missing["reason"]?.string ?? "")"
            }
            guard missing.isEmpty else {
                throw StartError("\(missing.count) of \(keys.count) are missing: " + missing.joined(separator: ", "))
            }
        }
    }

    /// The answer about one event. If the event's channel is pending, the call is repeated after the server's
    /// `Retry-After`. If this time would end after `patience`, the method does not wait and returns the answer.
    private func found(_ call: GrandstandClient.Call<Contract.Lookup>) async throws -> JSONValue? {
        let server = try ServerAccess(isOpen: call.operation.scopes == nil)
        let deadline = ContinuousClock.now + .seconds(patience)
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
