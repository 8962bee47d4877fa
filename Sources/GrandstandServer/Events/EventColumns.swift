internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// The columns of an event's own row that its organiser declares; only this file names them. Other statements write
/// topics, start and audiences.
enum EventColumns {
    private struct Column: Sendable {
        let name: PostgresQuery
        let value: @Sendable (EventSpecification) -> PostgresQuery

        init(
            _ name: PostgresQuery, _ value: @escaping @Sendable (EventSpecification) -> PostgresQuery
        ) {
            self.name = name
            self.value = value
        }
    }

    private static let columns = [
        Column("name") { "\($0.name)::text" },
        Column("kind") { "\($0.kind)::text" },
        Column("starts_at") { "\($0.startsAt)::timestamptz" },
        Column("ends_at") { "\($0.endsAt)::timestamptz" },
        Column("channels_open_at") { "\($0.opensAt)::timestamptz" },
        Column("channels_open_before") { "\($0.channelsOpenBefore)::integer" },
        Column("metadata") { "\($0.metadata.map(PostgresJSON.init(bytes:)))::json" },
        Column("season") { "\(SeasonName.named(in: $0.metadata)?.rawValue)::text" },
        Column("content") { "\($0.content)::text" },
        Column("defaults") { "\(defaults($0).map(PostgresJSON.init(bytes:)))::json" },
    ]

    private static func defaults(_ specification: EventSpecification) -> [UInt8]? {
        specification.defaults.isEmpty ? nil : JSONWriter.text(specification.defaults)
    }

    /// The names of the columns that an organiser declares.
    static let declared = list(columns.map(\.name))

    /// The values that an `insert` proposed, in the order of `declared`.
    static let proposed = list(columns.map { "excluded.\($0.name)" })

    /// The values of a declaration, in the order of `declared`.
    static func values(_ specification: EventSpecification) -> PostgresQuery {
        list(columns.map { $0.value(specification) })
    }

    /// The columns that `specification` reads, of a row `e`.
    static let read: PostgresQuery = "e.key, e.topics, \(list(columns.map { "e.\($0.name)" }))"

    /// Reads an event's declaration.
    ///
    /// - Parameters:
    ///   - row: has the columns `read`.
    ///   - audiences: the event's audiences, from their own rows.
    ///   - start: the event's start, from its own row.
    static func specification(
        _ row: PostgresRow, audiences: [Audience], start: Contract.Start?
    ) throws -> EventSpecification {
        let openBefore: Int? = try row.decode("channels_open_before")
        return EventSpecification(
            key: try row.word("key"), name: try row.decode("name"), kind: try row.decode("kind"),
            startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at"),
            channelsOpenAt: openBefore == nil ? try row.decode("channels_open_at") : nil,
            channelsOpenBefore: openBefore, audiences: audiences,
            metadata: try row.decode(PostgresJSON?.self, "metadata")?.bytes, topics: try row.topics(), start: start,
            defaults: try row.eventDefaults(), content: try row.decode("content"))
    }

    private static func list(_ parts: [PostgresQuery]) -> PostgresQuery {
        parts.dropFirst().reduce(parts[0]) { "\($0), \($1)" }
    }
}
