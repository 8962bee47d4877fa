package import FoundationEssentials
package import Grandstand

/// Posts messages to webhooks through libcurl, each on a connection of its own.
///
/// libcurl asks for a host's addresses beside the transfers, so a dead name server delays its own webhooks only. Where a
/// socket is to be opened, the very address is checked: a name that changes leads nowhere else. Redirects are not
/// followed; answers are read up to a limit and dropped.
package struct WebhookClient: WebhookGateway {
    package struct Settings: Sendable {
        package var networks: NetworkGuard
        /// For a whole exchange: name, connection, TLS, answer.
        package var timeout: Duration
        /// PEM certificates trusted besides the system's.
        package var trustedFile: String?

        package init(networks: NetworkGuard, timeout: Duration = .seconds(15), trustedFile: String? = nil) {
            self.networks = networks
            self.timeout = timeout
            self.trustedFile = trustedFile
        }
    }

    private let settings: Settings
    private let now: @Sendable () -> Date
    private let authorities: [UInt8]?
    private let transfers: Transfers
    /// Addresses in libcurl's words (`CURLOPT_RESOLVE`) that stand in for a name server's.
    private let addresses: [String]

    /// - Throws: `WebhookClientError` when `trustedFile` holds no certificates, or libcurl cannot be used.
    package init(settings: Settings, now: @escaping @Sendable () -> Date) throws {
        try self.init(settings: settings, now: now, addresses: [])
    }

    init(settings: Settings, now: @escaping @Sendable () -> Date, addresses: [String]) throws {
        self.settings = settings
        self.now = now
        self.addresses = addresses
        authorities = try settings.trustedFile.map(Authorities.withSystems)
        transfers = try Transfers()
    }

    package func post(_ message: ClaimedWebhook) async -> WebhookAnswer {
        if let fault = settings.networks.fault(of: message.url) { return .refused(fault) }
        return await transfers.carryOut(
            Transfer(
                url: message.url, headers: headers(message), body: message.body, networks: settings.networks,
                timeout: settings.timeout, authorities: authorities, addresses: addresses, now: now))
    }

    /// Why a post to `url` would be refused, by the addresses that its name has now; `nil`: it would not, or the name has
    /// no address. Nothing is called.
    package func refusal(of url: WebhookURL) async -> String? {
        if let fault = settings.networks.fault(of: url) { return fault }
        let trial = Transfer(
            url: url, headers: [], body: [], networks: settings.networks, timeout: min(settings.timeout, .seconds(2)),
            authorities: nil, addresses: addresses, isTrial: true, now: now)
        guard case .refused(let reason) = await transfers.carryOut(trial) else { return nil }
        return reason
    }

    private func headers(_ message: ClaimedWebhook) -> [String] {
        let signature = WebhookSignature.headers(
            id: WebhookDelivery.messageName(message.message), at: now(), body: message.body, secrets: message.secrets)
        // A name without a value: libcurl does not send its own.
        return [
            "Host: \(message.url.authority)", "Content-Type: application/json", "User-Agent: grandstand",
            "Connection: close", "Accept:", "Expect:",
        ] + signature.map { "\($0.name): \($0.value)" }
    }
}

/// The client cannot be set up.
package struct WebhookClientError: Error, Equatable, CustomStringConvertible {
    package let description: String
}
