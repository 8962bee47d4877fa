internal import ArgumentParser
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import JSON

/// `grandstand webhook`: where a running server posts its messages to.
struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "Signed messages to your own servers.",
        subcommands: [
            Create.self, List.self, Get.self, Change.self, Delete.self, Rotate.self, Test.self, Deliveries.self,
            Delivery.self, Replay.self,
        ])

    /// Which webhook.
    struct Target: ParsableArguments {
        @Argument(help: "The webhook's ID.") var id: String
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a webhook and prints its secret once, alone on standard output.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "Where messages are posted to.") var url: String
        @Option(help: "What to tell of; may be repeated. One of \(WebhookTopic.words).") var topic: [WebhookTopic]
        @Option(help: "Only what concerns this app, by its bundle ID; may be repeated.") var app: [String] = []
        @Option(help: "What people know it by.") var description: String?
        @Flag(help: "Post nothing yet.") var disabled = false

        func validate() throws {
            guard !topic.isEmpty else { throw ValidationError("Give at least one --topic.") }
        }

        func run() async throws {
            let draft = GrandstandClient.WebhookDraft(
                url: url, description: description, topics: topic.map { .init(rawValue: $0.rawValue) },
                bundleId: app.count == 1 ? app[0] : nil, bundleIds: app.count > 1 ? app : nil,
                enabled: disabled ? false : nil)
            let answer = try await client.answer(.createWebhook(draft))
            if !client.json {
                Terminal.say("webhook \(answer?["id"]?.string ?? ""); its secret:")
            }
            client.showSecret(answer)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists webhooks.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            try await client.list(.listWebhooks(), page, ["id", "enabled", "topics", "url", "reason"])
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a webhook.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { try await client.show(.getWebhook(target.id)) }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Changes a webhook; what is not given stays as it is.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var further: FurtherFields
        @OptionGroup var target: Target
        @Option(help: "Another URL.") var url: String?
        @Option(help: "Other topics; may be repeated. One of \(WebhookTopic.words).") var topic: [WebhookTopic] = []
        @Option(help: "Only what concerns this app, by its bundle ID.") var app: String?
        @Option(help: "What people know it by.") var description: String?
        @Flag(inversion: .prefixedEnableDisable, help: "Whether messages are posted.") var messages: Bool?

        private static let readOnly: Set = [
            "id", "reason", "failingSince", "previousSecretUntil", "createdAt", "updatedAt",
        ]

        func run() async throws {
            let answer = try await client.change(
                .getWebhook(target.id), { .putWebhook(target.id, json: $0) }, without: Self.readOnly, mayCreate: false
            ) { draft in
                try further.apply(to: &draft)
                draft.set("url", url)
                var topics = JSONWriter()
                topics.array(topic.map(\.rawValue)) { writer, topic in writer.string(topic) }
                if !topic.isEmpty { draft.set("topics", raw: topics.bytes) }
                draft.set("bundleId", app)
                draft.set("description", description)
                draft.set("enabled", messages)
            }
            client.show(answer)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Removes a webhook and its log.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { try await client.send(.deleteWebhook(target.id)) }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Gives a webhook another secret and prints it; the old one signs too for a while.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Option(help: "Seconds in which both secrets sign.") var overlap = 86_400

        func run() async throws {
            client.showSecret(
                try await client.answer(.rotateWebhookSecret(target.id, overlapSeconds: overlap)))
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Posts a test message and says what came of it; exits 1 unless it was taken.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws {
            let queued = try await client.answer(.testWebhook(target.id))
            try await client.watch(queued?["id"]?.string ?? "", of: target.id, since: 0)
        }
    }

    struct Deliveries: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists what was posted, the newest first.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @OptionGroup var page: PageOptions
        @Option(help: "Only those in this state: queued, sending, delivered, failed or cancelled.") var state: String?
        @Option(help: "Only messages of this type, e.g. broadcast.settled.") var topic: String?

        func run() async throws {
            try await client.list(
                .listWebhookDeliveries(
                    of: target.id, state: state.map { .init(rawValue: $0) }, topic: topic.map { .init(rawValue: $0) }),
                page, ["id", "topic", "state", "attempts", "status", "createdAt", "reason"])
        }
    }

    struct Delivery: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a delivery, its message and every try.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Argument(help: "The delivery's ID.") var delivery: String

        func run() async throws { try await client.show(.getWebhookDelivery(delivery, of: target.id)) }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Posts a message again and says what came of it; exits 1 unless it was taken.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Argument(help: "The delivery's ID.") var delivery: String

        func run() async throws {
            let call = GrandstandClient.Call<GrandstandClient.WebhookDeliveryLog>.getWebhookDelivery(
                delivery, of: target.id)
            let tries = try await client.answer(call)?["log"]?.elements?.count ?? 0
            _ = try await client.answer(.replayWebhookDelivery(delivery, of: target.id))
            try await client.watch(delivery, of: target.id, since: tries)
        }
    }
}

extension WebhookTopic: ExpressibleByArgument {
    fileprivate static var words: String { allValueStrings.joined(separator: ", ") }

    package static var allValueStrings: [String] { subscribable.map(\.rawValue) }

    package init?(argument: String) {
        guard let topic = Self.subscribable.first(where: { $0.rawValue == argument }) else { return nil }
        self = topic
    }
}

extension ClientOptions {
    /// Looks at a delivery until it was tried more than `tries` times, for half a minute at most, and says how it went.
    fileprivate func watch(_ delivery: String, of id: String, since tries: Int) async throws {
        for _ in 0..<150 {
            let answer = try await answer(.getWebhookDelivery(delivery, of: id))
            let isTried = (answer?["log"]?.elements?.count ?? 0) > tries
            switch answer?["state"]?.string {
            case "delivered" where isTried:
                if json { return show(answer) }
                return print("taken")
            case "cancelled",
                .some where isTried:
                throw StartError("not taken: \(answer?["reason"]?.string ?? "the webhook is gone")")
            default: try await Task.sleep(for: .milliseconds(200))
            }
        }
        throw StartError("not tried yet; `grandstand webhook deliveries` shows what comes of it")
    }
}
