internal import ContentPreviews
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandService
internal import Hummingbird
internal import JSON

/// `/v1/events/{key}/state`: the state of an event, as a feed has it.
struct StateRoutes: Sendable {
    let states: StateOperations

    var routes: [Route] {
        [
            Route(.putState) { request, context in
                let key = try context.eventKey()
                let report = try StateReport(body: try await request.json())
                guard let broadcast = try await states.tell(report, of: key, context.caller) else {
                    return .json(UnchangedStateView())
                }
                return .json(broadcast, status: .accepted)
            },
            Route(.previewState) { request, context in
                let key = try context.eventKey()
                let report = try StateReport(body: try await request.json())
                return .json(try await states.preview(report, of: key, context.caller))
            },
        ]
    }
}

/// What callers do with the states of events.
struct StateOperations: Sendable {
    let broadcasts: BroadcastOperations

    /// - Returns: the broadcast that was made of it; `nil`: nothing is new.
    /// - Throws: what `Intake.tell` throws.
    func tell(_ report: StateReport, of key: EventKey, _ caller: Caller) async throws -> Broadcast? {
        try await broadcasts.intake.tell(StateIntake(key, report, by: caller.actor, within: caller.reach))
    }

    /// Says what `tell` would do, and does not.
    ///
    /// - Throws: as `tell`.
    func preview(_ report: StateReport, of key: EventKey, _ caller: Caller) async throws -> StatePreviewView {
        let rehearsal = try await broadcasts.intake.rehearse(
            StateIntake(key, report, by: caller.actor, within: caller.reach))
        return StatePreviewView(
            rehearsal: rehearsal,
            broadcast: try await rehearsal.broadcast.asyncMap { try await broadcasts.view(of: $0) })
    }
}

extension Optional {
    /// The same as `map`, with a call that waits.
    fileprivate func asyncMap<Value>(_ body: (Wrapped) async throws -> Value) async throws -> Value? {
        guard let self else { return nil }
        return try await body(self)
    }
}

extension StateReport {
    /// Reads the body of `PUT /v1/events/{key}/state`; contents are kept as they were written.
    init(body: JSONValue) throws(Problem) {
        var fields = JSONFields(body)
        let contentState = fields.content(required: true)
        let sequence = fields.integer("sequence", in: 0...9_007_199_254_740_991)
        let isFinal = fields.flag("final") ?? false
        let audiences = fields.selectors("audiences")
        var byVariant: [Variant: JSONValue] = [:]
        if let value = fields.value("byVariant") {
            if case .object(let members) = value.kind {
                for member in members {
                    let pointer = fields.pointer(to: "byVariant") + JSONText.pointer([member.name])
                    guard let variant = Variant(rawValue: member.name) else {
                        fields.fault(at: pointer, Variant.rule)
                        continue
                    }
                    var nested = JSONFields(member.value, pointer: pointer)
                    byVariant[variant] = nested.content(required: false)
                    fields.absorb(nested)
                }
            } else {
                fields.fault("byVariant", "An object of contents by variant was expected, not \(value.kindName).")
            }
        }
        try fields.finish()
        self.init(
            contentState: contentState ?? body, byVariant: byVariant, sequence: sequence, isFinal: isFinal,
            audiences: audiences)
    }
}

extension JSONFields {
    /// A content: an object.
    fileprivate mutating func content(required: Bool) -> JSONValue? {
        guard let value = value("contentState", required: required) else { return nil }
        if case .object = value.kind { return value }
        fault("contentState", "An object was expected, not \(value.kindName).")
        return nil
    }
}

/// The answer to a state that brings nothing new.
struct UnchangedStateView: JSONObjectWritable {
    func write(members object: inout JSONWriter) { object.member("outcome", StateOutcome.unchanged.rawValue) }
}

/// The answer to `POST /v1/events/{key}/state/preview`.
struct StatePreviewView: JSONObjectWritable {
    let rehearsal: StateRehearsal
    /// `nil`: nothing would be sent.
    let broadcast: BroadcastRehearsalView?

    func write(members object: inout JSONWriter) {
        object.member("outcome", rehearsal.outcome.rawValue)
        object.member("rule", rehearsal.rule)
        object.member("goesAt", rehearsal.goesAt)
        object.name("audiences")
        if let broadcast { broadcast.writeParts(to: &object) } else { object.raw("[]".utf8) }
        object.member("warnings", rehearsal.broadcast?.warnings ?? [])
    }
}
