internal import APNsWire
internal import HTTP2

/// The JSON of faults in files and in the control API (docs/simulator.md).
extension Fault {
    private static let common = ["name", "match", "action", "times"]

    /// - Throws: an error that says what is wrong, and where.
    init(_ value: JSONValue, at place: String) throws(SimulatorError) {
        let action = try Self.actionName(value, at: place)
        let fields = try JSONFields(value, at: place, known: Self.common + action.fields)
        self.init(
            name: try fields.string("name") ?? "",
            match: try fields["match"].map { match throws(SimulatorError) in
                try FaultMatch(match, at: fields.place("match"), forConnections: action == .tls)
            } ?? FaultMatch(),
            action: try FaultAction(action, fields), times: try fields.integer("times", in: 1...Int.max))
    }

    /// Reads `action` first, because it decides which other members are allowed.
    private static func actionName(_ value: JSONValue, at place: String) throws(SimulatorError) -> FaultAction.Name {
        guard case .object(let members) = value else { throw SimulatorError("\(place): an object is expected.") }
        let action = JSONValue.object(members.filter { $0.name == "action" })
        let fields = try JSONFields(action, at: place, known: ["action"])
        guard let name = try fields.choice("action", of: FaultAction.Name.self) else {
            let all = FaultAction.Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw SimulatorError("\(fields.place("action")): missing; write one of \(all).")
        }
        return name
    }

    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init(name: "name", value: .string(name)), .init(name: "match", value: match.json),
        ]
        if case .object(let action) = action.json { members += action }
        if let times { members.append(.init(name: "times", value: .integer(times))) }
        members.append(.init(name: "seen", value: .integer(seen)))
        members.append(.init(name: "acted", value: .integer(acted)))
        return .object(members)
    }
}

extension FaultMatch {
    init(_ value: JSONValue, at place: String, forConnections: Bool) throws(SimulatorError) {
        let counting = ["nth", "every", "rate"]
        let known =
            forConnections
            ? ["environment"] + counting
            : ["operation", "method", "path", "environment", "bundleId", "channelId"] + counting
        let fields = try JSONFields(value, at: place, known: known)
        operation = try fields.choice("operation")
        method = try fields.string("method")
        path = try fields.string("path")
        environment = try fields.choice("environment")
        bundleID = try fields.string("bundleId")
        channelID = try fields.string("channelId")
        nth = try fields.integer("nth", in: 1...Int.max)
        every = try fields.integer("every", in: 1...Int.max)
        rate = try fields.number("rate", in: 0...1)
    }

    var json: JSONValue {
        .members([
            "operation": operation.map { .string($0.rawValue) }, "method": method.map { .string($0) },
            "path": path.map { .string($0) }, "environment": environment.map { .string($0.rawValue) },
            "bundleId": bundleID.map { .string($0) }, "channelId": channelID.map { .string($0) },
            "nth": nth.map { .integer($0) }, "every": every.map { .integer($0) },
            "rate": rate.map { .number(String($0)) },
        ])
    }
}

extension FaultAction.Name {
    /// The JSON members that a fault with this action may have in addition to the members of every fault.
    fileprivate var fields: [String] {
        switch self {
        case .refuse: ["reason", "status", "retryAfter"]
        case .delay, .slowReads: ["seconds"]
        case .lose: ["by"]
        case .reset: ["code"]
        case .goAway: ["manner", "reason", "code"]
        case .settings: ["maximumStreams"]
        case .quota: ["channels"]
        case .tls: ["failure"]
        case .silence, .refuseStream, .cut, .reorder, .capabilityOff, .vanish: []
        }
    }
}

extension FaultAction {
    /// An hour, which is longer than any client waits.
    private static let longest = 3_600.0

    fileprivate init(_ name: Name, _ fields: JSONFields) throws(SimulatorError) {
        switch name {
        case .refuse:
            let reason = try fields.requiredString("reason")
            let status = try fields.integer("status", in: 200...599) ?? APNsReason(rawValue: reason).status
            guard let status else {
                throw SimulatorError(
                    "\(fields.place("status")): missing, and Apple does not document the reason \"\(reason)\": "
                        + "write the HTTP status to answer with."
                )
            }
            self = .refuse(
                reason: reason, status: status, retryAfter: try fields.integer("retryAfter", in: 0...86_400))
        case .delay: self = .delay(seconds: try fields.number("seconds", in: 0...Self.longest))
        case .silence: self = .silence
        case .lose: self = .lose(try fields.choice("by") ?? .silence)
        case .reset: self = .reset(code: try Self.code(fields) ?? HTTP2ErrorCode.internalError.rawValue)
        case .refuseStream: self = .refuseStream
        case .goAway:
            self = .goAway(
                try fields.choice("manner") ?? .clean, reason: try fields.string("reason") ?? "Shutdown",
                code: try Self.code(fields) ?? HTTP2ErrorCode.noError.rawValue)
        case .settings:
            guard let streams = try fields.integer("maximumStreams", in: 0...Int(UInt32.max)) else {
                throw SimulatorError("\(fields.place("maximumStreams")): a whole number is expected.")
            }
            self = .settings(maximumStreams: streams)
        case .cut: self = .cut
        case .slowReads: self = .slowReads(seconds: try Self.seconds(fields))
        case .reorder: self = .reorder
        case .capabilityOff: self = .capabilityOff
        case .vanish: self = .vanish
        case .quota:
            guard let channels = try fields.integer("channels", in: 0...Int.max) else {
                throw SimulatorError("\(fields.place("channels")): a whole number is expected.")
            }
            self = .quota(channels)
        case .tls: self = .tls(try fields.choice("failure") ?? .handshake)
        }
    }

    private static func seconds(_ fields: JSONFields) throws(SimulatorError) -> Double {
        guard let seconds = try fields.number("seconds", in: 0...longest) else {
            throw SimulatorError("\(fields.place("seconds")): a number from 0 to \(longest) is expected.")
        }
        return seconds
    }

    /// An error code by its name in RFC 9113 section 7, or as a number.
    private static func code(_ fields: JSONFields) throws(SimulatorError) -> UInt32? {
        if case .string(let name)? = fields["code"] {
            if let code = HTTP2ErrorCode.allCases.first(where: { HTTP2ErrorCode.name($0.rawValue) == name }) {
                return code.rawValue
            }
            throw SimulatorError("\(fields.place("code")): \"\(name)\" is not an error code of RFC 9113 section 7.")
        }
        return try fields.integer("code", in: 0...Int(UInt32.max)).map { UInt32($0) }
    }

    fileprivate var json: JSONValue {
        let name = JSONValue.string(name.rawValue)
        return switch self {
        case .refuse(let reason, let status, let retryAfter):
            .members([
                "action": name, "reason": .string(reason), "status": .integer(status),
                "retryAfter": retryAfter.map { .integer($0) },
            ])
        case .delay(let seconds): .members(["action": name, "seconds": seconds.map { .seconds($0) }])
        case .slowReads(let seconds): ["action": name, "seconds": .seconds(seconds)]
        case .lose(let loss): ["action": name, "by": .string(loss.rawValue)]
        case .reset(let code): ["action": name, "code": .string(HTTP2ErrorCode.name(code))]
        case .goAway(let manner, let reason, let code):
            [
                "action": name, "manner": .string(manner.rawValue), "reason": .string(reason),
                "code": .string(HTTP2ErrorCode.name(code)),
            ]
        case .settings(let streams): ["action": name, "maximumStreams": .integer(streams)]
        case .quota(let channels): ["action": name, "channels": .integer(channels)]
        case .tls(let failure): ["action": name, "failure": .string(failure.rawValue)]
        case .silence, .refuseStream, .cut, .reorder, .capabilityOff, .vanish: ["action": name]
        }
    }
}
