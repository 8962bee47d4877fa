internal import Foundation
public import GrandstandContract

extension GrandstandClient {
    /// An app in one APNs environment.
    public struct AppEnvironment: Sendable, Hashable, Codable {
        /// The bundle ID as registered at Apple.
        public var bundleId: String
        /// The APNs environment.
        public var environment: Environment

        /// Combines an app and an environment.
        public init(_ bundleId: String, _ environment: Environment) {
            self.bundleId = bundleId
            self.environment = environment
        }
    }

    /// The identity of an installation: its app, a UUID and a secret. The app creates the UUID and the secret at
    /// random. Keep the identity in the keychain. Without the identity, the app has to register as a new installation.
    public struct InstallationIdentity: Sendable, Hashable, Codable {
        /// The app that is installed.
        public var app: AppEnvironment
        /// A UUID in lower case.
        public let installationId: String
        private let keptSecret: Secret

        /// 32 random bytes in base64url.
        public var secret: String { keptSecret.rawValue }

        private enum CodingKeys: String, CodingKey {
            case app, installationId
            case keptSecret = "secret"
        }

        /// An installation that is already registered.
        public init(app: AppEnvironment, installationId: String, secret: String) {
            self.app = app
            self.installationId = installationId
            keptSecret = Secret(secret)
        }

        /// A new installation, with a random UUID and secret.
        public init(new app: AppEnvironment) {
            self.app = app
            installationId = UUID().uuidString.lowercased()
            keptSecret = .draw()
        }
    }
}

// Calls that the generator does not write: those whose answers are not JSON, and the short view of an app.

extension GrandstandClient.Call where Value == String {
    /// The server's metrics in Prometheus' text format.
    public static func metrics() -> Self { Self(.metrics, "/metrics") { String(decoding: $0.body, as: UTF8.self) } }

    /// The server's openapi.yaml.
    public static func contract() -> Self {
        Self(.contract, "/openapi.yaml") { String(decoding: $0.body, as: UTF8.self) }
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.AppNamePage {
    /// Lists the apps in the short view for keys that only have the scope lookup.
    public static func listAppNames() -> Self { Self(.listApps, "/v1/apps") }
}

extension GrandstandClient.Call where Value == GrandstandClient.AppName {
    /// Shows an app in the short view for keys that only have the scope lookup.
    public static func getAppName(_ bundleId: String) -> Self { Self(.getApp, "/v1/apps/\(bundleId)") }
}

extension GrandstandClient {
    /// All entries of a list. Pages are fetched while the entries are read.
    ///
    ///     for try await event in client.entries(of: .listEvents(state: .live)) { … }
    public func entries<Item>(of list: Call<Page<Item>>) -> AsyncThrowingStream<Item, any Error> {
        let pages = EntryIterator(client: self, next: list)
        return AsyncThrowingStream { try await pages.next() }
    }

    /// The position in a list.
    private actor EntryIterator<Item: Sendable & Hashable & Codable> {
        private let client: GrandstandClient
        private var items: [Item].SubSequence = []
        /// `nil`: the last page was read.
        private var nextPage: Call<Page<Item>>?

        init(client: GrandstandClient, next: Call<Page<Item>>) {
            self.client = client
            nextPage = next
        }

        func next() async throws -> Item? {
            while items.isEmpty {
                guard let call = nextPage else { return nil }
                let page = try await client.send(call)
                items = page.items[...]
                nextPage = page.nextCursor.map { call.page(after: $0) }
            }
            return items.removeFirst()
        }
    }
}
