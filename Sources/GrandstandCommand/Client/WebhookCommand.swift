internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandApp

/// `grandstand webhook`: where a running server posts its messages to.
struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "Signed messages to your own servers.",
        subcommands: [
            Create.self, List.self, Get.self, Change.self, Delete.self, Rotate.self, Test.self, Deliveries.self,
            Replay.self,
        ])

    private static let columns = ["id", "enabled", "topics", "url", "reason"]

    /// Which webhook.
    struct Place: ParsableArguments {
        @Argument(help: "The webhook's ID.") var id: String

        var path: String { "/v1/webhooks/\(encoded(id))" }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a webhook and prints its secret once, alone on standard output.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "Where messages are posted to.") var url: String
        @Option(help: "What to tell of; may be repeated. One of \(WebhookTopic.words).") var topic: [WebhookTopic]
        @Option(help: "Only what concerns this app, by its bundle ID.") var app: String?
        @Option(help: "What people know it by.") var description: String?

        func validate() throws {
            guard !topic.isEmpty else { throw ValidationError("Give at least one --topic.") }
        }

        func run() async throws {
            var body = JSONWriter()
            body.object { object in
                object.member("url", url)
                object.member("topics", topic.map(\.rawValue))
                if let app { object.member("bundleId", app) }
                if let description { object.member("description", description) }
            }
            let answer = try await client.call("POST", "/v1/webhooks", body: body.bytes)
            if !client.json {
                FileHandle.standardError.write(Data("webhook \(answer?.text(of: "id") ?? ""); its secret:\n".utf8))
            }
            client.showSecret(answer)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists webhooks.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            client.show(try await client.call("GET", "/v1/webhooks", query: page.query), WebhookCommand.columns)
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a webhook.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var place: Place

        func run() async throws { client.show(try await client.call("GET", place.path), WebhookCommand.columns) }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Changes a webhook; what is not given stays as it is.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var further: FurtherFields
        @OptionGroup var place: Place
        @Option(help: "Another URL.") var url: String?
        @Option(help: "Other topics; may be repeated. One of \(WebhookTopic.words).") var topic: [WebhookTopic] = []
        @Option(help: "Only what concerns this app, by its bundle ID.") var app: String?
        @Option(help: "What people know it by.") var description: String?
        @Flag(inversion: .prefixedEnableDisable, help: "Whether messages are posted.") var messages: Bool?

        private static let readOnly: Set = [
            "id", "reason", "failingSince", "previousSecretUntil", "createdAt", "updatedAt",
        ]

        func run() async throws {
            let answer = try await client.change(place.path, without: Self.readOnly, mayCreate: false) { draft in
                try further.apply(to: &draft)
                draft.set("url", url)
                var topics = JSONWriter()
                topics.array(topic.map(\.rawValue)) { writer, topic in writer.string(topic) }
                if !topic.isEmpty { draft.set("topics", raw: topics.bytes) }
                draft.set("bundleId", app)
                draft.set("description", description)
                draft.set("enabled", messages)
            }
            client.show(answer, WebhookCommand.columns)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Removes a webhook and its log.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var place: Place

        func run() async throws { _ = try await client.call("DELETE", place.path) }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Gives a webhook another secret and prints it; the old one signs too for a while.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var place: Place
        @Option(help: "Seconds in which both secrets sign.") var overlap = 86_400

        func run() async throws {
            var body = JSONWriter()
            body.object { $0.member("overlapSeconds", overlap) }
            client.showSecret(try await client.call("POST", "\(place.path)/secret", body: body.bytes))
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Posts a test message and says what came of it; exits 1 unless it was taken.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var place: Place

        func run() async throws {
            let queued = try await client.call("POST", "\(place.path)/test")
            try await client.watch("\(place.path)/deliveries/\(queued?.text(of: "id") ?? "")", since: 0)
        }
    }

    struct Deliveries: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists what was posted, the newest first.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var place: Place
        @OptionGroup var page: PageOptions
        @Option(help: "Only those in this state: queued, sending, delivered, failed or cancelled.") var state: String?

        func run() async throws {
            client.show(
                try await client.call(
                    "GET", "\(place.path)/deliveries", query: page.query + [(name: "state", value: state)]),
                ["id", "topic", "state", "attempts", "status", "createdAt", "reason"])
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Posts a message again and says what came of it; exits 1 unless it was taken.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var place: Place
        @Argument(help: "The delivery's ID.") var delivery: String

        func run() async throws {
            let path = "\(place.path)/deliveries/\(encoded(delivery))"
            let tries = try await client.call("GET", path)?["log"]?.count ?? 0
            _ = try await client.call("POST", "\(path)/replay")
            try await client.watch(path, since: tries)
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
    /// The secret alone, or the answer as it came.
    fileprivate func showSecret(_ answer: JSONValue?) {
        if json { show(answer, []) } else { print(answer?.text(of: "secret") ?? "") }
    }

    /// Looks at a delivery until it was tried more than `tries` times, for half a minute at most, and says how it went.
    fileprivate func watch(_ path: String, since tries: Int) async throws {
        for _ in 0..<150 {
            let answer = try await call("GET", path)
            let isTried = (answer?["log"]?.count ?? 0) > tries
            switch answer?.text(of: "state") {
            case "delivered" where isTried:
                if json { return show(answer, []) }
                return print("taken")
            case "cancelled",
                .some where isTried:
                throw StartError("not taken: \(answer?.text(of: "reason") ?? "the webhook is gone")")
            default: try await Task.sleep(for: .milliseconds(200))
            }
        }
        throw StartError("not tried yet; `grandstand webhook deliveries` shows what comes of it")
    }
}

extension JSONValue {
    /// A member's text; `nil` when it is none.
    fileprivate func text(of name: String) -> String? { self[name]?.string }

    /// How many elements an array has.
    fileprivate var count: Int { elements.count }
}
