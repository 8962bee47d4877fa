internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandService
internal import HTTPTypes
internal import Hummingbird

/// Single pushes, for teams that store device tokens themselves: accept a push durably, read it, cancel it.
struct PushRoutes: Sendable {
    let apps: any AppStore
    let outbox: any Outbox
    let intake: Intake
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.push, accept),
            Route(.getPush, get),
            Route(.cancelPush, cancel),
        ]
    }

    private func accept(_ request: Request, _ context: APIContext) async throws -> Response {
        let path = try context.app()
        let draft = try PushDraft(body: try await request.json())
        // The path may write the bundle ID in another letter case than the registered one.
        let app = AppEnvironment(
            bundleID: try await apps.registered(path.bundleID).bundleID, environment: path.environment)
        let wanted = BroadcastIntake(
            .token(TokenAddress(app: app, token: draft.token)), request: draft.request, by: context.actor,
            within: context.reach)
        return try answer(try await intake.accept(wanted), status: .accepted)
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        let id = try context.id(orThrow: .pushNotFound)
        guard let push = try await outbox.broadcast(id, within: context.reach), push.recipient != nil else {
            throw Problem.pushNotFound(id)
        }
        return try answer(push)
    }

    private func cancel(_ request: Request, _ context: APIContext) async throws -> Response {
        let id = try context.id(orThrow: .pushNotFound)
        let withdrawal = try await outbox.cancelPush(id, within: context.reach, by: context.actor, now: now())
        guard let isWithdrawn = withdrawal else { throw Problem.pushNotFound(id) }
        guard isWithdrawn else {
            throw Problem(
                .pushSent,
                "This push was sent, or it expired; it cannot be withdrawn. Send a newer update instead.")
        }
        return .noContent
    }

    private func answer(_ push: Broadcast, status: HTTPResponse.Status = .ok) throws(Problem) -> Response {
        guard let recipient = push.recipient else {
            throw Problem(.internalError, "The outbox answered a push with something else.")
        }
        return .json(Contract.Push(push, to: recipient), status: status)
    }
}

extension Problem {
    fileprivate static func pushNotFound(_ id: UUID) -> Problem {
        Problem(.pushNotFound, "There is no push \(id.uuidString.lowercased()).")
    }
}
