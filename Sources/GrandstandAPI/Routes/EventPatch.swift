internal import FoundationEssentials
internal import Grandstand
internal import Hummingbird
internal import JSON

/// `PATCH /v1/events/{key}`: a JSON Merge Patch (RFC 7396) on what is declared.
extension EventRoutes {
    /// Tries of a change that depends on no version, while others change the same event.
    private static let tries = 5

    func patch(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try context.eventKeyToWrite()
        let condition = try request.writeCondition()
        let patch = try await request.json(as: ["application/merge-patch+json", "application/json"])
        guard case .object = patch.kind else {
            throw Problem.invalid(
                "A change of an event is a JSON object with the members that change.", at: "",
                "An object was expected, not \(patch.kindName).")
        }
        for _ in 0..<Self.tries {
            do {
                let event = try await apply(patch, to: key, if: condition, context)
                return .json(event, headers: .version(event.version))
            } catch let problem as Problem where problem.kind == .versionMismatch && condition == .none {
                // Another writer changed it since it was read.
            }
        }
        throw Problem(.storeUnavailable, "Others change this event all the time. Try again.", retryAfter: 1)
    }

    private func apply(
        _ patch: JSONValue, to key: EventKey, if condition: WriteCondition, _ context: APIContext
    ) async throws -> Event {
        guard let present = try await events.event(key, now: now()) else {
            try condition.check(nil)
            throw Problem(.eventNotFound, "There is no event \(key). Declare it with PUT /v1/events/\(key).")
        }
        guard context.reach.covers(eventOf: present.specification.audiences.map(\.bundleID)) else {
            throw context.reach.refusal
        }
        try condition.check(present.version)
        let declared = try JSONValue(parsing: EventDocuments.api.document(of: present.specification).text)
        // An unknown name is refused also where it is null.
        let merged = MergePatch.apply(patch, to: declared, keepsNulls: true)
        let specification = try EventSpecification(key: key, body: try JSONValue(parsing: merged))
        for audience in specification.audiences { try context.requireCover(of: audience.bundleID) }
        return try await events.put(
            specification, within: context.reach, by: context.actor, if: .versions([present.version]), now: now()
        ).event
    }
}

extension JSONValue {
    /// The members of an object, in their order; none of anything else.
    var members: [(name: String, value: JSONValue)] { if case .object(let members) = kind { members } else { [] } }
}
