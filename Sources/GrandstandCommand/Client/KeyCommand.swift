internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import JSON

/// `grandstand key`: the API keys of a running server. `grandstand keys` works on the database, where the first key is
/// created.
struct KeyCommand: AsyncParsableCommand, Noun, Listed, Shown, Deletable {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "API keys of a running server (`keys` works on its database).",
        subcommands: [
            ShowCommand<Create>.self, ListCommand<Self>.self, ShowCommand<Self>.self, ShowCommand<Rotate>.self,
            DeleteCommand<Self>.self,
        ])

    static let id: ArgumentHelp = "The key's ID."
    static let list = Verb<NoArguments, _>(
        "list", "Lists keys, the newest first.",
        columns: ["id", "name", "scopes", "bundleIds", "eventKeyPrefix", "prefix", "state", "expiresAt", "lastUsedAt"]
    ) { _ in .listKeys() }
    static let show = Verb<ID<Self>, _>("get", "Shows a key.") { .getKey($0.id) }
    static let delete = Verb<Revocation, _>("revoke", "Revokes a key.", aliases: ["delete"]) {
        .revokeKey($0.key.id, disableWebhooks: $0.disableWebhooks ? true : nil)
    }

    struct Revocation: ParsableArguments {
        @OptionGroup var key: ID<KeyCommand>
        @Flag(help: "Also disable the webhooks that the key declared, even if the key is already revoked.")
        var disableWebhooks = false
    }

    struct Create: ParsableArguments, Shown {
        @Option(help: "The name of the key, for people.") var name: String
        @Option(help: "lookup, device, organise, operate or admin; may be repeated. device needs --app.")
        var scope: [Word<Contract.Scope>]
        @Option(help: "The bundle ID of an app that the key is for; may be repeated. Without it: all apps.")
        var app: [String] = []
        @Option(
            help: """
                The key is only for events whose event keys begin with this. API keys with another prefix cannot \
                declare such events. Only with --scope organise.
                """
        )
        var eventKeyPrefix: String?
        @Option(help: "When it expires, RFC 3339. Without it: never.") var expiresAt: Moment?

        static let show = Verb<Self, _>(
            "create", "Creates a key and prints its secret once; standard output has nothing else.", only: "secret"
        ) {
            .createKey(
                name: $0.name, scopes: $0.scope.map(\.value), bundleId: $0.app.count == 1 ? $0.app[0] : nil,
                bundleIds: $0.app.count > 1 ? $0.app : nil, eventKeyPrefix: $0.eventKeyPrefix,
                expiresAt: $0.expiresAt?.date)
        }
    }

    struct Rotate: ParsableArguments, Shown {
        @OptionGroup var target: ID<KeyCommand>
        @Option(help: "Seconds for which the old key stays valid. Without it: a day.") var overlap: Int?

        static let show = Verb<Self, _>(
            "rotate", "Replaces a key and prints the new secret once; standard output has nothing else.",
            only: "secret"
        ) { .rotateKey($0.target.id, overlapSeconds: $0.overlap) }
    }
}

/// `grandstand server`: the state of a running server. These calls need no key.
struct ServerCommand: AsyncParsableCommand, Shown {
    static let configuration = CommandConfiguration(
        commandName: "server", abstract: "The state of a running server; needs no key.",
        subcommands: [ShowCommand<Self>.self, Ready.self, Metrics.self, Contract.self])

    static let show = Verb<NoArguments, _>("health", "Shows whether the process runs.") { _ in .health() }

    struct Ready: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows whether the server can work; exits 1 if it cannot.")
        @OptionGroup var client: ClientOptions

        func run() async throws {
            let answer = try await ServerAccess(isOpen: true).answer(to: .readiness())
            try client.show(try JSONValue(parsing: Array(answer.body)))
            if answer.status != 200 { throw ExitCode.failure }
        }
    }

    struct Metrics: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Prints the metrics in Prometheus' text format.")

        func run() async throws { print(try await ServerAccess.text(of: .metrics()), terminator: "") }
    }

    struct Contract: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Prints the openapi.yaml of the server.")

        func run() async throws { print(try await ServerAccess.text(of: .contract()), terminator: "") }
    }
}
