internal import APNsWire
internal import HTTP2
internal import JSON

/// The JSON of faults in files and in the control API (docs/simulator.md).
extension Fault {
    fileprivate struct Draft: Decodable {
        var name: String?
        var match: FaultMatch?
        var action: FaultAction.Name
        var times: Int?
        // The members of some actions.
        var reason: String?
        var status: Int?
        var retryAfter: Int?
        var seconds: Double?
        var by: FaultAction.Loss?
        var manner: FaultAction.GoAwayManner?
        var code: JSONValue?
        var maximumStreams: Int?
        var channels: Int?
        var failure: FaultAction.TLSFailure?
    }

    private static let common = ["name", "match", "action", "times"]

    /// - Throws: an error that says what is wrong, and where.
    init(_ value: JSONValue, at place: String) throws(SimulatorError) {
        let draft: Draft = try value.read(at: place)
        if case .object(let members) = value.kind {
            let known = Self.common + draft.action.fields
            for member in members where !known.contains(member.name) {
                throw SimulatorError("\(place): \(member.name.quotedJSON) is unknown to \(draft.action.rawValue).")
            }
        }
        let match = draft.match ?? FaultMatch()
        try match.check(at: "\(place).match", forConnections: draft.action == .tls)
        try SimulatorError.check(draft.times, in: 1...Int.max, at: "\(place).times")
        self.init(
            name: draft.name ?? "", match: match, action: try FaultAction(draft, at: place), times: draft.times)
    }

    func write(members object: inout JSONWriter) {
        object.member("name", name)
        object.member("match", match)
        action.write(members: &object)
        if let times { object.member("times", times) }
        object.member("seen", seen)
        object.member("acted", acted)
    }
}

extension FaultMatch {
    fileprivate func check(at place: String, forConnections: Bool) throws(SimulatorError) {
        if forConnections, operation != nil || method != nil || path != nil || bundleID != nil || channelID != nil {
            throw SimulatorError("\(place): tls has only environment, nth, every and rate.")
        }
        try SimulatorError.check(nth, in: 1...Int.max, at: "\(place).nth")
        try SimulatorError.check(every, in: 1...Int.max, at: "\(place).every")
        try SimulatorError.check(rate, in: 0...1, at: "\(place).rate")
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

    fileprivate init(_ draft: Fault.Draft, at place: String) throws(SimulatorError) {
        func required<Value>(_ value: Value?, _ name: String) throws(SimulatorError) -> Value {
            guard let value else { throw SimulatorError("\(place).\(name): missing.") }
            return value
        }
        try SimulatorError.check(draft.status, in: 200...599, at: "\(place).status")
        try SimulatorError.check(draft.retryAfter, in: 0...86_400, at: "\(place).retryAfter")
        try SimulatorError.check(draft.seconds, in: 0...Self.longest, at: "\(place).seconds")
        try SimulatorError.check(draft.maximumStreams, in: 0...Int(UInt32.max), at: "\(place).maximumStreams")
        try SimulatorError.check(draft.channels, in: 0...Int.max, at: "\(place).channels")
        let code = try draft.code.map { code throws(SimulatorError) in try Self.code(code, at: "\(place).code") }
        switch draft.action {
        case .refuse:
            let reason = try required(draft.reason, "reason")
            guard let status = draft.status ?? APNsReason(rawValue: reason).status else {
                throw SimulatorError(
                    "\(place).status: missing, and Apple does not document the reason \"\(reason)\": write the HTTP "
                        + "status to answer with.")
            }
            self = .refuse(reason: reason, status: status, retryAfter: draft.retryAfter)
        case .delay: self = .delay(seconds: draft.seconds)
        case .silence: self = .silence
        case .lose: self = .lose(draft.by ?? .silence)
        case .reset: self = .reset(code: code ?? HTTP2ErrorCode.internalError.rawValue)
        case .refuseStream: self = .refuseStream
        case .goAway:
            self = .goAway(
                draft.manner ?? .clean, reason: draft.reason ?? "Shutdown",
                code: code ?? HTTP2ErrorCode.noError.rawValue)
        case .settings: self = .settings(maximumStreams: try required(draft.maximumStreams, "maximumStreams"))
        case .cut: self = .cut
        case .slowReads: self = .slowReads(seconds: try required(draft.seconds, "seconds"))
        case .reorder: self = .reorder
        case .capabilityOff: self = .capabilityOff
        case .vanish: self = .vanish
        case .quota: self = .quota(try required(draft.channels, "channels"))
        case .tls: self = .tls(draft.failure ?? .handshake)
        }
    }

    /// An error code by its name in RFC 9113 section 7, or as a number.
    private static func code(_ value: JSONValue, at place: String) throws(SimulatorError) -> UInt32 {
        if let number = value.integer.flatMap(UInt32.init(exactly:)) { return number }
        if let code = HTTP2ErrorCode.allCases.first(where: { HTTP2ErrorCode.name($0.rawValue) == value.string }) {
            return code.rawValue
        }
        throw SimulatorError(
            "\(place): \(String(decoding: value.source, as: UTF8.self)) is not an error code of RFC 9113 section 7.")
    }

    fileprivate func write(members object: inout JSONWriter) {
        object.member("action", name.rawValue)
        switch self {
        case .refuse(let reason, let status, let retryAfter):
            object.member("reason", reason)
            object.member("status", status)
            if let retryAfter { object.member("retryAfter", retryAfter) }
        case .delay(let seconds): if let seconds { object.member("seconds", seconds) }
        case .slowReads(let seconds): object.member("seconds", seconds)
        case .lose(let loss): object.member("by", loss.rawValue)
        case .reset(let code): object.member("code", HTTP2ErrorCode.name(code))
        case .goAway(let manner, let reason, let code):
            object.member("manner", manner.rawValue)
            object.member("reason", reason)
            object.member("code", HTTP2ErrorCode.name(code))
        case .settings(let streams): object.member("maximumStreams", streams)
        case .quota(let channels): object.member("channels", channels)
        case .tls(let failure): object.member("failure", failure.rawValue)
        case .silence, .refuseStream, .cut, .reorder, .capabilityOff, .vanish: break
        }
    }
}
