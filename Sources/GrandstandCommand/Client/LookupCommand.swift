internal import ArgumentParser
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import JSON

/// `grandstand lookup`: what an app asks before it starts an activity, and the list of events that it may offer.
struct LookupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "The channels of events, as apps look them up.",
        discussion: "With one key the channel of that event, with several those of all, without any the app's list. "
            + "A channel that is being made is waited for, and standard error says so. Exits 1 unless all that were asked "
            + "for are there.")

    private static let columns = ["eventKey", "channelId", "variant", "storagePolicy", "state", "startsAt", "endsAt"]

    @OptionGroup var client: ClientOptions
    @OptionGroup var page: PageOptions
    @OptionGroup var target: AppOptions
    @Argument(help: "Event keys.") var keys: [String] = []
    @Option(help: "Which of the app's variants; without it the audience without one, else the first that is not over.")
    var variant: String?
    @Flag(help: "With the newest content; of one event.") var contentState = false
    @Option(help: "Seconds for which a channel of one event that is being made is waited for; 0: not at all.")
    var patience = 30
    @Option(help: "Of the list: only events with this topic.") var topic: String?
    @Option(help: "Of the list: only those that are scheduled, or live.") var state: Word<Contract.FollowableState>?
    @Option(help: "Of the list: only events that start at or after this time (RFC 3339).") var from: Moment?
    @Option(help: "Of the list: only events that start before this time (RFC 3339).") var to: Moment?

    func validate() throws {
        let ofList = [
            ("--topic", topic != nil), ("--state", state != nil), ("--from", from != nil), ("--to", to != nil),
            ("--limit", page.limit != nil), ("--cursor", page.cursor != nil),
        ].filter(\.1).map(\.0)
        guard keys.isEmpty || ofList.isEmpty else {
            throw ValidationError(
                "\(ofList.joined(separator: ", ")): only of the list, which is looked up without keys.")
        }
        guard !contentState || keys.count == 1 else {
            throw ValidationError("--content-state: only of one event, which is looked up by its key.")
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
            client.show(
                try await found(.lookup(keys[0], in: target.app, variant: variant, contentState: contentState)))
        default:
            let answer = try await client.answer(.lookupMany(keys, in: target.app, variant: variant))
            client.show(answer, Self.columns)
            let missing = (answer?["missing"]?.elements ?? []).map { missing in
                "\(missing["eventKey"]?.string ?? ""): \(missing["reason"]?.string ?? "")"
            }
            guard missing.isEmpty else {
                throw StartError("\(missing.count) of \(keys.count) are missing: " + missing.joined(separator: ", "))
            }
        }
    }

    /// The answer about one event. If its channel is pending, the call is repeated when the server says, within
    /// `patience`. If the channel opens later than that, this does not wait.
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
