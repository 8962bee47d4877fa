/// The way to calendars on the web.
package protocol CalendarGateway: Sendable {
    /// Fetches a file, within a bounded time and so many bytes at most.
    func fetch(_ url: WebhookURL, upTo limit: Int) async -> CalendarFetch
}

/// The outcome of a fetch.
package enum CalendarFetch: Sendable, Hashable {
    case file([UInt8])
    /// Why there is no file, in words.
    case failed(String)
}
