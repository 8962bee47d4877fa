internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import JSON

/// `grandstand key`: API keys of a running server; `keys` is for the database, where the first one is made.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "API keys of a running server (`keys` works on its database).",
        subcommands: [Create.self, List.self, Get.self, Rotate.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a key and prints its secret once, alone on standard output.")
        @OptionGroup var client: ClientOptions
        @Option(help: "What people know the key by.") var name: String
        @Option(help: "lookup, device, organise, operate or admin; may be repeated. device needs --app.")
        var scope: [String]
        @Option(help: "The bundle ID of an app the key is for; may be repeated. Without it, all.") var app: [String] =
            []
        @Option(help: "When it ends, RFC 3339; without it, it does not.") var expiresAt: Moment?

        func run() async throws {
            client.showSecret(
                try await client.answer(
                    .createKey(
                        name: name, scopes: scope.map { .init(rawValue: $0) }, bundleId: app.count == 1 ? app[0] : nil,
                        bundleIds: app.count > 1 ? app : nil, expiresAt: expiresAt?.date)))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists keys, the newest first.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            try await client.list(
                .listKeys(), page, ["id", "name", "scopes", "bundleIds", "prefix", "state", "expiresAt", "lastUsedAt"])
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a key.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The key's ID.") var id: String

        func run() async throws { try await client.show(.getKey(id)) }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a key in place of one, and prints its secret once, alone on standard output.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The key's ID.") var id: String
        @Option(help: "Seconds the old key goes on; a day without it.") var overlap: Int?

        func run() async throws { client.showSecret(try await client.answer(.rotateKey(id, overlapSeconds: overlap))) }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Ends a key at once.", aliases: ["delete"])
        @OptionGroup var client: ClientOptions
        @Argument(help: "The key's ID.") var id: String

        func run() async throws { try await client.send(.revokeKey(id)) }
    }
}

extension ClientOptions {
    /// The secret alone, or the answer as it came.
    func showSecret(_ answer: JSONValue?) {
        if json { show(answer) } else { print(answer?["secret"]?.string ?? "") }
    }
}

/// `grandstand server`: how a running server is; these calls need no key.
struct ServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server", abstract: "How a running server is; needs no key.",
        subcommands: [Health.self, Ready.self, Metrics.self, Contract.self])

    struct Health: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Whether its process runs.")
        @OptionGroup var client: ClientOptions

        func run() async throws {
            client.show(
                try ServerAccess.json(of: try await ServerAccess(isOpen: true).answer(to: .health())))
        }
    }

    struct Ready: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Whether it can work; exits 1 if it cannot.")
        @OptionGroup var client: ClientOptions

        func run() async throws {
            let answer = try await ServerAccess(isOpen: true).answer(to: .readiness())
            client.show(try JSONValue(parsing: Array(answer.body)))
            if answer.status != 200 { throw ExitCode.failure }
        }
    }

    struct Metrics: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Its numbers, as Prometheus reads them.")

        func run() async throws {
            print(
                try ServerAccess.text(of: try await ServerAccess(isOpen: true).answer(to: .metrics())), terminator: "")
        }
    }

    struct Contract: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Its openapi.yaml.")

        func run() async throws {
            print(
                try ServerAccess.text(of: try await ServerAccess(isOpen: true).answer(to: .contract())), terminator: "")
        }
    }
}
