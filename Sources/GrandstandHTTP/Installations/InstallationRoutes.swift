internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/{environment}/installations`: phones register themselves, by the million; organisers see numbers.
struct InstallationRoutes: Sendable {
    let installations: any InstallationStore
    let sampling: ReceiptSampling
    let limits: RateLimits
    let now: @Sendable () -> Date

    /// The access that registrations need.
    static let access = Route.Access(to: .putInstallation)

    var routes: [Route] {
        [
            Route(.putInstallation, put),
            Route(.getInstallation, get),
            Route(.forgetInstallation, delete),
            Route(.installationStatistics, statistics),
        ]
    }

    private func put(_ request: Request, _ context: APIContext) async throws -> Response {
        let proof = try InstallationProof(request, context)
        let state = try InstallationState(body: try await request.json())
        let isNew = try await proof.proved(limits, at: now()) {
            try await proof.registering(limits, at: now()) {
                _ = try await installations.installation(proof.id, secret: proof.secret)
            } _: {
                try await installations.put(state, of: proof.id, secret: proof.secret, now: now())
            }
        }
        return .json(Contract.Registered(proof.id.id, sampling), status: isNew ? .created : .ok)
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        let proof = try InstallationProof(request, context)
        let known = try await proof.proved(limits, at: now()) {
            try await installations.installation(proof.id, secret: proof.secret)
        }
        return .json(Contract.Installation(proof.id.id, known, sampling))
    }

    private func delete(_ request: Request, _ context: APIContext) async throws -> Response {
        let proof = try InstallationProof(request, context)
        try await proof.proved(limits, at: now()) {
            try await installations.forget(proof.id, secret: proof.secret)
        }
        return .noContent
    }

    private func statistics(_ request: Request, _ context: APIContext) async throws -> Response {
        .json(Contract.InstallationStatistics(try await installations.statistics(of: try context.app())))
    }
}

extension InstallationState {
    /// Reads the body of a registration: the whole state, so what is left out is not so.
    init(body: JSONValue) throws(Problem) {
        var fields = JSONFields(body)
        let sequence = fields.integer("sequence", in: 0...9_007_199_254_740_991)
        let system = fields.read(
            "systemVersion", "A version such as 18 or 18.4.1 was expected.", required: true, SystemVersion.init)
        let appVersion = fields.text("appVersion", maximum: 64)
        let locale = fields.text("locale", maximum: 64)
        let timeZone = fields.text("timeZone", maximum: 64)
        let liveActivities = fields.flag("liveActivitiesEnabled") ?? true
        let frequentPushes = fields.flag("frequentPushesEnabled") ?? true
        let tokens = Self.startTokens(&fields)
        var topics: Set<Topic> = []
        for (value, pointer) in fields.array("topics", count: 0...Self.maximumTopics) ?? [] {
            guard case .string(let text) = value.kind, let topic = Topic(rawValue: text) else {
                fields.fault(at: pointer, Topic.rule)
                continue
            }
            topics.insert(topic)
        }
        try fields.finish()
        self.init(
            sequence: sequence, systemVersion: system ?? SystemVersion(0), appVersion: appVersion, locale: locale,
            timeZone: timeZone, liveActivitiesEnabled: liveActivities, frequentPushesEnabled: frequentPushes,
            startTokens: tokens, topics: topics)
    }

    private static func startTokens(_ fields: inout JSONFields) -> [String: DeviceToken] {
        var tokens: [String: DeviceToken] = [:]
        for (value, pointer) in fields.array("startTokens", count: 0...maximumStartTokens) ?? [] {
            var nested = JSONFields(value, pointer: pointer)
            let type = nested.text("attributesType", required: true)
            let token = nested.token("token", required: true)
            if let type, let token, tokens.updateValue(token, forKey: type) != nil {
                nested.fault("attributesType", "\(JSONText.quoted(type)) stands twice; a type has one token.")
            }
            fields.absorb(nested)
        }
        return tokens
    }
}

extension JSONFields {
    /// A device's or an activity's token. A refusal does not repeat it.
    mutating func token(_ name: String, required: Bool = false) -> DeviceToken? {
        guard let text = text(name, required: required, maximum: 2 * DeviceToken.maximumLength) else { return nil }
        let token = DeviceToken(hex: text)
        if token == nil { fault(name, DeviceToken.rule) }
        return token
    }
}
