internal import Postgres

/// Deliveries as they are reported: both lanes of a crowd, of which people who want few pushes have one, are one entry
/// (`Delivery.joined`).
enum CrowdEntries {
    /// Groups rows `d` of `deliveries` by entry.
    static let grouping: PostgresQuery =
        "group by coalesce((select app from crowds where lane = d.lane), -d.id)"

    /// An entry's state: words of a Postgres type are in the order of `Delivery.State.allCases`. What was done with an empty
    /// crowd says nothing of the rest.
    static let state: PostgresQuery = """
        coalesce(min(d.state) filter (where d.state <> 'accepted' or d.fan_out ->> 'total' is distinct from '0'),
            min(d.state))
        """
}
