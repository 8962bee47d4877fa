package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresOutbox {
    package func claim(_ claim: LaneClaim) async throws -> [ClaimedDelivery] {
        var claim = claim
        claim.at = claim.at.inMicroseconds
        return try await dispatch.transaction {
            [claim] connection -> (loaded: [Lane], lanes: [Lane], outgoing: Outgoing) in
            let ids: [Int] = try await connection.query(Self.lockDue(claim)).map { try $0.decode("id") }
            guard !ids.isEmpty else { return ([], [], Outgoing()) }
            let rows = try await connection.pipeline([Self.planning(rows: ids.count)] + LaneRows.loadLocked("\(ids)"))
            let loaded = try LaneRows.lanes(rows)
            var (lanes, outgoing) = (loaded, Outgoing())
            for index in lanes.indices {
                guard let message = lanes[index].take(claim, requestID: UUID.drawn) else { continue }
                outgoing.add(message, of: lanes[index])
            }
            return (loaded, lanes, outgoing)
        } closing: { [claim] loaded, lanes, outgoing in
            LaneRows.write(lanes, loaded: loaded, at: claim.at)
                + (outgoing.isEmpty ? [] : [outgoing.contents, outgoing.destinations])
        } _: { work, rows in
            guard !work.outgoing.isEmpty else { return [] }
            // The last of a transaction is its COMMIT.
            let (contents, destinations) = (rows[rows.count - 3], rows[rows.count - 2])
            return try work.outgoing.deliveries(
                contents: try Outgoing.contents(contents), times: try Outgoing.times(contents),
                destinations: destinations)
        }
    }

    package func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await dispatch.query(
            """
            with recursive \(Self.appsWithWork(in: environment))
            select min(case when u.is_urgent then
                    (select min(due_at) from lanes where environment = \(environment.rawValue)::environment
                        and bundle_id = a.bundle_id and is_urgent and due_at is not null)
                else (select min(due_at) from lanes where environment = \(environment.rawValue)::environment
                        and bundle_id = a.bundle_id and not is_urgent and due_at is not null) end) as at
            from apps a cross join (values (true), (false)) u(is_urgent) where a.bundle_id is not null
            """
        ).first?.decode(Date?.self, "at")
    }

    package func extendLeases(of lanes: [Int], replica: UUID, until leasedUntil: Date) async throws {
        try await LaneRows.extendLeases(of: lanes, replica: replica, until: leasedUntil, in: dispatch)
    }

    /// Apps with a lane that wants attention some time, by as many index probes as there are such apps.
    private static func appsWithWork(in environment: APNsEnvironment) -> PostgresQuery {
        """
        apps as (
            (select bundle_id from lanes where environment = \(environment.rawValue)::environment and due_at is not null
            order by bundle_id limit 1)
            union all
            select (select l.bundle_id from lanes l where l.environment = \(environment.rawValue)::environment
                and l.due_at is not null and l.bundle_id > a.bundle_id order by l.bundle_id limit 1)
            from apps a where a.bundle_id is not null
        )
        """
    }

    /// Locks due lanes: an equal share of the room for each app that has any, its urgent ones first. Room that an app
    /// leaves is the next claim's, which follows at once. When apps are more than places, chance decides, not the
    /// alphabet.
    ///
    /// - Returns: the statement; its rows have `id`.
    private static func lockDue(_ claim: LaneClaim) -> PostgresQuery {
        let now = claim.at
        let environment: PostgresQuery = "\(claim.environment.rawValue)::environment"
        return """
            with recursive \(appsWithWork(in: claim.environment)),
            ready as (
                select a.bundle_id, greatest(1, \(claim.limit) / count(*) over ()) as share from apps a
                where least((select due_at from lanes where environment = \(environment) and bundle_id = a.bundle_id
                        and is_urgent and due_at is not null order by due_at limit 1),
                    (select due_at from lanes where environment = \(environment) and bundle_id = a.bundle_id
                        and not is_urgent and due_at is not null order by due_at limit 1)) <= \(now)
                order by random()
            )
            select d.id from ready r cross join lateral (
                select id from (
                    select id from lanes where environment = \(environment) and bundle_id = r.bundle_id
                        and is_urgent and due_at <= \(now)
                    order by due_at limit r.share for no key update skip locked) urgent
                union all
                select id from (
                    select id from lanes where environment = \(environment) and bundle_id = r.bundle_id
                        and not is_urgent and due_at <= \(now)
                    order by due_at limit r.share for no key update skip locked) other
                limit r.share) d
            limit \(claim.limit)
            """
    }
}
