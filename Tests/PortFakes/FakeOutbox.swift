package import APNsWire
package import FoundationEssentials
package import Grandstand

/// An `Outbox` whose answers the test sets. It answers only the calls that HTTP routes make. All other calls throw
/// `Unasked`.
package struct FakeOutbox: Outbox {
    package typealias List = @Sendable (EventKey, AppReach, PageRequest) throws -> Page<Broadcast>

    package var take: @Sendable ([BroadcastIntake]) throws -> [Result<Broadcast, Problem>] = { _ in throw Unasked() }
    package var rehearsal: @Sendable (BroadcastIntake) throws -> BroadcastRehearsal = { _ in throw Unasked() }
    package var hear: @Sendable (StateIntake) throws -> Broadcast? = { _ in throw Unasked() }
    package var stateRehearsal: @Sendable (StateIntake) throws -> StateRehearsal = { _ in throw Unasked() }
    package var find: @Sendable (UUID) throws -> Broadcast? = { _ in throw Unasked() }
    package var list: List = { _, _, _ in throw Unasked() }
    package var waiting: List = { _, _, _ in Page(items: [], nextCursor: nil) }
    package var withdraw: @Sendable (UUID) throws -> Bool? = { _ in throw Unasked() }
    package var withdrawPush: @Sendable (UUID) throws -> Bool? = { _ in throw Unasked() }

    package init() {}

    package func accept(
        _ items: [BroadcastIntake], now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> [Result<Broadcast, Problem>] { try take(items) }
    package func rehearse(
        _ intake: BroadcastIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> BroadcastRehearsal { try rehearsal(intake) }
    package func tell(
        _ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> Broadcast? { try hear(state) }
    package func rehearse(
        _ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> StateRehearsal { try stateRehearsal(state) }
    package func broadcast(_ id: UUID, within reach: AppReach) async throws -> Broadcast? { try find(id) }
    package func broadcasts(
        of key: EventKey, within reach: AppReach, _ page: PageRequest
    ) async throws -> Page<Broadcast> { try list(key, reach, page) }
    package func scheduled(
        of key: EventKey, within reach: AppReach, _ page: PageRequest
    ) async throws -> Page<Broadcast> { try waiting(key, reach, page) }
    package func cancel(_ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> Bool? {
        try withdraw(id)
    }
    package func cancelPush(
        _ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> Bool? { try withdrawPush(id) }

    package func promote(now: Date, limit: Int, plan: @escaping DeliveryPlanning) async throws -> Int {
        throw Unasked()
    }
    package func nextScheduled() async throws -> Date? { throw Unasked() }
    package func claim(_ claim: LaneClaim) async throws -> [ClaimedDelivery] { throw Unasked() }
    package func extendLeases(of lanes: [Int], replica: UUID, until leasedUntil: Date) async throws {
        throw Unasked()
    }
    package func settle(
        _ delivery: ClaimedDelivery, _ settlement: Settlement?, replica: UUID, now: Date
    ) async throws -> Bool { throw Unasked() }
    package func nextDue(in environment: APNsEnvironment, limits: [LaneLimit]) async throws -> Date? { throw Unasked() }
}
