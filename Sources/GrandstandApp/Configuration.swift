package import APNsClient
package import FoundationEssentials
package import Grandstand
package import HTTP2
package import Logging

/// Everything a server can be told, checked before anything is opened.
package struct Configuration: Sendable {
    /// Where the database is.
    package enum DatabaseSource: Sendable, Hashable {
        /// A libpq connection string, as it is.
        case url(String)
        /// A private cluster in this folder.
        case embedded(directory: String)
    }

    /// PEM files; the API speaks HTTPS with them.
    package struct TLS: Sendable, Hashable {
        package var certificatePath: String
        package var keyPath: String
    }

    package enum LogFormat: String, Sendable, Hashable, CaseIterable {
        case text
        case json
    }

    /// Loops a process may run; what one does not run, others on the same database do.
    package enum Role: String, Sendable, Hashable, CaseIterable {
        /// The HTTP API.
        case api
        /// Sends broadcasts.
        case dispatch
        /// Makes, retires and reconciles channels.
        case reconcile
    }

    package var database: DatabaseSource
    package var roles: Set<Role>
    package var host: String
    /// 0: a free one is picked and logged.
    package var port: Int
    package var tls: TLS?
    /// Where `/healthz`, `/readyz` and `/metrics` are instead; `nil`: with the API.
    package var operationsPort: Int?
    /// Requests a second of one key; 0: no limit.
    package var rateLimit: Double
    /// Lookups a second of one key to this process; 0: no limit.
    package var lookupRateLimit: Double
    /// Failed authentications a minute of one address; 0: no limit.
    package var failureLimit: Double
    /// Connections at a time; more wait to be accepted.
    package var maximumConnections: Int
    /// How long a client may take to send a request's header; its body has three times that.
    package var clientTimeout: Duration
    package var keyDirectory: String
    package var endpoints: Endpoints
    package var trustRoots: HTTP2ClientConfiguration.TrustRoots
    /// The way to APNs.
    package var proxies: ProxySettings
    /// Connections to APNs for each host, team and key.
    package var connections: Int
    /// Until an unanswered request to APNs counts as unanswered.
    package var requestTimeout: Duration
    /// Seconds between two messages of one lane; 0: none.
    package var laneInterval: TimeInterval
    /// Seconds for which an alert rings when its organiser does not say.
    package var alertFreshness: TimeInterval
    /// How long events hold their channels.
    package var tenure: ChannelTenure
    /// Seconds between reconciliations of one app and environment; 0: only when a creation went unanswered.
    package var reconcileInterval: TimeInterval
    /// Seconds since first sight before an unmanaged channel may be deleted.
    package var reconcileGrace: TimeInterval
    /// Deletions of one reconciliation.
    package var reconcileDeleteBudget: Int
    /// Seconds settled broadcasts are kept.
    package var history: TimeInterval
    /// Seconds for which lookups are answered from memory while the database cannot confirm them.
    package var lookupStaleness: TimeInterval
    /// Where webhooks may lead besides the internet, and whether in the clear.
    package var webhookNetworks: NetworkGuard
    /// Until an unanswered message to a webhook counts as unanswered.
    package var webhookTimeout: Duration
    /// PEM certificates trusted besides the system's, for webhooks.
    package var webhookTrustedFile: String?
    /// Live views open at a time in this process.
    package var streams: Int
    /// Of these, open with one key.
    package var streamsPerKey: Int
    /// How long a stop waits for sends under way.
    package var drain: Duration
    package var logLevel: Logger.Level
    package var logFormat: LogFormat
}

/// A setting that cannot be used: one line that names it.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ variable: String, _ why: String) { description = "\(variable): \(why)" }
}
