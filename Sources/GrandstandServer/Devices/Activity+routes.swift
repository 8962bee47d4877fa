internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `…/installations/{installationId}/activities`: Live Activities that apps report.
struct ActivityRoutes: Sendable {
    let installations: any InstallationStore
    let limits: RateLimits
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.putActivity, put),
            Route(.forgetActivity, delete),
        ]
    }

    private func put(_ request: Request, _ context: APIContext) async throws -> Response {
        let proof = try InstallationProof(request, context)
        let activity = try DeviceActivity(
            id: try context.activityID(), body: try await request.json(upTo: DeviceBounds.body))
        let isNew = try await proof.proved(limits, at: now()) {
            try await installations.put(activity, of: proof.id, secret: proof.secret, now: now())
        }
        return .json(Contract.Registered(proof.id.id), status: isNew ? .created : .ok)
    }

    private func delete(_ request: Request, _ context: APIContext) async throws -> Response {
        let proof = try InstallationProof(request, context)
        let activity = try context.activityID()
        try await proof.proved(limits, at: now()) {
            try await installations.forget(activity: activity, of: proof.id, secret: proof.secret)
        }
        return .noContent
    }
}

extension APIContext {
    /// - Throws: `invalid-request`.
    fileprivate func activityID() throws(Problem) -> String {
        let text = text("activityId")
        guard DeviceActivity.isID(text) else {
            throw Problem.invalid(
                "The activity ID in the path is not valid. \(DeviceActivity.idRule)", at: "activityId",
                DeviceActivity.idRule
            )
        }
        return text
    }
}

extension DeviceActivity {
    /// Reads the body of a report.
    init(id: String, body: JSONValue) throws(Problem) {
        let draft = try Contract.ActivityDraft.read(body)
        self.init(
            id: id, eventKey: try EventKey(allowed: draft.eventKey), attributesType: draft.attributesType,
            state: try State(draft.state),
            updateToken: try draft.updateToken.map { text throws(Problem) in try DeviceToken(allowed: text) },
            channelID: draft.channelId, variant: draft.variant.flatMap(Variant.init(rawValue:)))
    }
}
