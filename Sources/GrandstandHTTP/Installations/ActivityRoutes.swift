internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `…/installations/{installationId}/activities`: Live Activities as their apps report them.
struct ActivityRoutes: Sendable {
    let installations: any InstallationStore
    let sampling: ReceiptSampling
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
        let activity = try DeviceActivity(id: try context.activityID(), body: try await request.json())
        let isNew = try await proof.proved(limits, at: now()) {
            try await installations.put(
                activity, of: proof.id, secret: proof.secret, isSampled: sampling.includes(proof.id.id), now: now())
        }
        return .json(Contract.Registered(proof.id.id, sampling), status: isNew ? .created : .ok)
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
                "The path's activity is not named so. \(DeviceActivity.idRule)", at: "activityId", DeviceActivity.idRule
            )
        }
        return text
    }
}

extension DeviceActivity {
    /// Reads the body of a report.
    init(id: String, body: JSONValue) throws(Problem) {
        var fields = JSONFields(body)
        let key = fields.read("eventKey", EventKey.rule, required: true, EventKey.init)
        let type = fields.text("attributesType", required: true)
        let state = fields.choice("state", State.self, required: true)
        let token = fields.token("updateToken")
        let channelID = fields.text("channelId")
        try fields.finish()
        guard let key, let type, let state else {
            throw Problem(.internalError, "A field that is required is missing.")
        }
        self.init(
            id: id, eventKey: key, attributesType: type, state: state, updateToken: token, channelID: channelID)
    }
}
