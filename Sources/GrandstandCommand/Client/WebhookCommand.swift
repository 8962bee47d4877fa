internal import ArgumentParser
internal import Grandstand
internal import GrandstandClient
internal import GrandstandContract
internal import GrandstandServer
internal import JSON

/// `grandstand webhook`: the addresses to which a running server posts its messages.
struct WebhookCommand: AsyncParsableCommand, Listed, Shown, Changeable, Deletable {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "Signed messages to your own servers.",
        subcommands: [
            Create.self, ListCommand<Self>.self, ShowCommand<Self>.self, PutCommand<Self>.self,
            DeleteCommand<Self>.self,
            ShowCommand<Rotate>.self, Test.self, ListCommand<Delivery>.self, ShowCommand<Delivery>.self, Replay.self,
        ])

    static let id: ArgumentHelp = "The webhook's ID."
    static let list = Verb<Filter, _>(
        "list", "Lists webhooks.", columns: ["id", "enabled", "topics", "url", "declaredBy", "reason"]
    ) { .listWebhooks(declaredBy: $0.declaredBy) }
    static let show = Verb<ID<Self>, _>("get", "Shows a webhook.") { .getWebhook($0.id) }
    static let delete = Verb<ID<Self>, _>("delete", "Removes a webhook and its log.") { .deleteWebhook($0.id) }
    static let put = Change(
        configuration: .init(
            commandName: "change", abstract: "Changes the given members of a webhook."),
        mayCreate: false, get: { .getWebhook($0) }, put: { .putWebhook($0, json: $1) },
        declared: {
            Draft(
                $0,
                without: [
                    "id", "declaredBy", "reason", "failingSince", "previousSecretUntil", "createdAt", "updatedAt",
                ])
        })

    struct Filter: ParsableArguments {
        @Option(help: "Only webhooks that the key with this ID declared.") var declaredBy: String?
    }

    struct Fields: FieldOptions {
        @Option(help: "Another URL.") var url: String?
        @Option(help: "Other topics; may be repeated. One of \(Topic.words).") fileprivate var topic: [Topic] = []
        @Option(help: "Only messages about this app, by its bundle ID.") var app: String?
        @Option(help: "A description for people.") var description: String?
        @Flag(inversion: .prefixedEnableDisable, help: "Whether messages are posted.") var messages: Bool?

        func apply(to draft: inout Draft) {
            draft.set("url", url)
            draft.set("topics", texts: topic.map(\.word.rawValue))
            draft.set("bundleId", app)
            draft.set("description", description)
            draft.set("enabled", messages)
        }
    }

    /// One message to a webhook.
    struct Delivery: ParsableArguments, Listed, Shown {
        @OptionGroup var webhook: ID<WebhookCommand>
        @Argument(help: "The delivery's ID.") var delivery: String

        static let list = Verb<Filter, _>(
            "deliveries", "Lists the posted messages, the newest first.",
            columns: ["id", "topic", "state", "attempts", "status", "createdAt", "reason"]
        ) { .listWebhookDeliveries(of: $0.webhook.id, state: $0.state?.value, topic: $0.topic?.value) }
        static let show = Verb<Self, _>("delivery", "Shows a delivery, its message and every attempt.") {
            .getWebhookDelivery($0.delivery, of: $0.webhook.id)
        }

        struct Filter: ParsableArguments {
            @OptionGroup var webhook: ID<WebhookCommand>
            @Option(help: "Only deliveries in this state: queued, sending, delivered, failed or cancelled.")
            var state: Word<Contract.WebhookDeliveryState>?
            @Option(help: "Only messages of this type, e.g. broadcast.settled.")
            var topic: Word<Contract.WebhookMessageType>?
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Creates a webhook and prints its secret once; standard output has nothing else.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The URL to post messages to.") var url: String
        @Option(help: "A topic; may be repeated. One of \(Topic.words).") fileprivate var topic: [Topic]
        @Option(help: "Only messages about this app, by its bundle ID; may be repeated.") var app: [String] = []
        @Option(help: "A description for people.") var description: String?
        @Flag(help: "Create it disabled: nothing is posted yet.") var disabled = false

        func validate() throws {
            guard !topic.isEmpty else { throw ValidationError("Give at least one --topic.") }
        }

        func run() async throws {
            let draft = GrandstandClient.WebhookDraft(
                url: url, description: description, topics: topic.map(\.word),
                bundleId: app.count == 1 ? app[0] : nil, bundleIds: app.count > 1 ? app : nil,
                enabled: disabled ? false : nil)
            let answer = try await client.answer(.createWebhook(draft))
            if !client.json { Terminal.say("webhook \(answer?["id"]?.string ?? ""); its secret:") }
            try client.show(answer, only: "secret")
        }
    }

    struct Rotate: ParsableArguments, Shown {
        @OptionGroup var target: ID<WebhookCommand>
        @Option(help: "Seconds for which messages carry the signatures of both secrets.") var overlap = 86_400

        static let show = Verb<Self, _>(
            "rotate", "Gives a webhook a new secret and prints it; the old one still signs for a while.", only: "secret"
        ) { .rotateWebhookSecret($0.target.id, overlapSeconds: $0.overlap) }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Posts a test message and prints the result; exits 1 unless the receiver accepted it.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: ID<WebhookCommand>

        func run() async throws {
            let queued = try await client.answer(.testWebhook(target.id))
            try await client.watch(queued?["id"]?.string ?? "", of: target.id, since: 0)
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Posts a message again and prints the result; exits 1 unless the receiver accepted it.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var message: Delivery

        func run() async throws {
            let (delivery, webhook) = (message.delivery, message.webhook.id)
            let tries = try await client.answer(Delivery.show.call(message))?["log"]?.elements?.count ?? 0
            _ = try await client.answer(.replayWebhookDelivery(delivery, of: webhook))
            try await client.watch(delivery, of: webhook, since: tries)
        }
    }
}

/// A topic that this version knows.
private struct Topic: ExpressibleByArgument {
    let word: Contract.WebhookTopic
    static var allValueStrings: [String] { Contract.WebhookTopic.allCases.map(\.rawValue) }
    static var words: String { allValueStrings.joined(separator: ", ") }

    init?(argument: String) {
        guard let word = Contract.WebhookTopic.allCases.first(where: { $0.rawValue == argument }) else { return nil }
        self.word = word
    }
}

extension ClientOptions {
    /// Waits until a delivery has more than `tries` attempts, for half a minute at most, and prints the result.
    fileprivate func watch(_ delivery: String, of id: String, since tries: Int) async throws {
        for _ in 0..<150 {
            let answer = try await answer(.getWebhookDelivery(delivery, of: id))
            let isTried = (answer?["log"]?.elements?.count ?? 0) > tries
            switch answer?["state"]?.string {
            case "delivered" where isTried:
                if json { return try show(answer) }
                return print("accepted")
            case "cancelled",
                .some where isTried:
                throw StartError("not accepted: \(answer?["reason"]?.string ?? "the webhook was deleted")")
            default: try await Task.sleep(for: .milliseconds(200))
            }
        }
        throw StartError("not tried yet; `grandstand webhook deliveries` will show the result")
    }
}
