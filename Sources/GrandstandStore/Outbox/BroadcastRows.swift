internal import APNsWire
internal import Grandstand
internal import Postgres

/// The organiser's part of broadcasts, as the table `broadcasts` has it.
enum BroadcastRows {
    /// The columns that `PostgresRow.content` reads, of rows without an alias.
    static let columns: PostgresQuery = """
        event, alert, content_state, stale_date, dismissal_date, relevance_score, start, by_variant
        """

    /// The columns that `PostgresRow.request` reads, of rows `b`.
    static let request: PostgresQuery = """
        b.event, b.content_state, b.alert, b.stale_date, b.dismissal_date, b.relevance_score, b.start, b.by_variant, b.priority,
        b.expires_in, b.apns_expiration, b.audiences
        """

    /// The content that a variant gets, as it was written.
    ///
    /// - Parameters:
    ///   - row: of `broadcasts`.
    ///   - variant: an expression for the variant's text.
    static func contentState(_ row: PostgresQuery, for variant: PostgresQuery) -> PostgresQuery {
        "coalesce(\(row).by_variant -> \(variant) -> 'contentState', \(row).content_state)"
    }
}

extension PostgresRow {
    /// The request as it was made, off the columns of `broadcasts`.
    func request(bodyLimit: Int = APNsLimits.broadcastPayload) throws -> BroadcastRequest {
        let content = try content()
        var request = BroadcastRequest(
            payload: content.payload, priority: try optionalPriority("priority"), expiresIn: try decode("expires_in"),
            apnsExpiration: try decode("apns_expiration"),
            audiences: try decode(PostgresJSON?.self, "audiences").map { try AudienceSelectors.read($0.bytes) },
            bodyLimit: bodyLimit)
        request.byVariant = content.byVariant
        return request
    }

    /// The organiser's part of the message, off the columns of `broadcasts`.
    func content() throws -> BroadcastContent {
        let payload = BroadcastPayload(
            event: try word("event"), contentState: try decode(PostgresJSON?.self, "content_state")?.bytes,
            alert: try decode(PostgresJSON?.self, "alert")?.bytes, staleDate: try decode("stale_date"),
            dismissalDate: try decode("dismissal_date"),
            relevanceScore: try decode(PostgresJSON?.self, "relevance_score")?.bytes,
            start: try decode(PostgresJSON?.self, "start").flatMap { try StartText.read($0.bytes) })
        guard let byVariant = try decode(PostgresJSON?.self, "by_variant") else { return BroadcastContent(payload) }
        return BroadcastContent(payload, byVariant: try BroadcastContent.byVariant(byVariant.bytes))
    }
}
