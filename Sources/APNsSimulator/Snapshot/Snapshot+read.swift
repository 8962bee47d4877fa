internal import APNsWire
internal import FoundationEssentials

extension Snapshot {
    /// Reads a text into an empty state.
    ///
    /// - Throws: if `text(of:)` cannot have written the text; the error says where.
    static func restore(_ text: [UInt8], into state: inout SimulatorState, at place: String) throws(SimulatorError) {
        guard let value = JSONValue(parsing: text) else {
            throw SimulatorError("\(place) is not JSON: remove it to start empty, or name another file with --state.")
        }
        let fields = try JSONFields(
            value, at: place, known: ["version", "apps", "capabilityOff", "devices", "goneTokens"])
        guard try fields.integer("version", in: 0...Int.max) == version else {
            throw SimulatorError("\(place) was written by another version: remove it to start empty.")
        }
        for app in try fields.array("apps") ?? [] { try restore(app: app, into: &state, at: "\(place): apps") }
        state.capabilityOff = Set(try fields.strings("capabilityOff") ?? [])
        for device in try fields.array("devices") ?? [] {
            state.devices.add(try restored(device: device, at: "\(place): devices"))
        }
        for token in try fields.array("goneTokens") ?? [] { try restore(gone: token, into: &state, at: place) }
    }

    private static func restore(
        app value: JSONValue, into state: inout SimulatorState, at place: String
    ) throws(SimulatorError) {
        let fields = try JSONFields(
            value, at: place, known: ["bundleId", "environment", "team", "channelLimit", "channels", "deleted"])
        let key = SimulatorState.AppKey(
            name: try fields.requiredString("bundleId"), environment: try environment(fields))
        state.owners[key] = try fields.string("team")
        state.limits[key] = try fields.integer("channelLimit", in: 0...Int.max)
        var app = SimulatedApp()
        for channel in try fields.array("channels") ?? [] { try restore(channel: channel, into: &app, at: place) }
        for id in try fields.strings("deleted") ?? [] { app.remember(deleted: id) }
        state.apps[key] = app
    }

    private static func restore(
        channel value: JSONValue, into app: inout SimulatedApp, at place: String
    ) throws(SimulatorError) {
        let fields = try JSONFields(
            value, at: "\(place).channels", known: ["id", "policy", "createdAt", "broadcasts", "stored"])
        let id = try fields.requiredString("id")
        guard let policy = try fields.integer("policy", in: 0...1).flatMap(StoragePolicy.init(wireValue:)) else {
            throw SimulatorError("\(fields.place("policy")): 0 or 1 is expected.")
        }
        var stored: StoredMessage?
        if let value = fields["stored"] {
            let message = try JSONFields(
                value, at: fields.place("stored"), known: ["body", "storedAt", "expiresAt", "uniqueId"])
            stored = StoredMessage(
                body: try bytes("body", message), storedAt: try date("storedAt", message) ?? .distantPast,
                expiresAt: try date("expiresAt", message) ?? .distantPast,
                uniqueID: try message.string("uniqueId") ?? "")
        }
        app.add(
            id, policy, now: try date("createdAt", fields) ?? .distantPast,
            broadcasts: try fields.integer("broadcasts", in: 0...Int.max) ?? 0, stored: stored)
    }

    private static func restored(device value: JSONValue, at place: String) throws(SimulatorError) -> Device {
        let fields = try JSONFields(
            value, at: place,
            known: ["id", "environment", "system", "online", "startTokens", "activities", "waiting"])
        var device = Device(
            id: try fields.requiredString("id"), environment: try environment(fields),
            system: try fields.integer("system", in: 1...999) ?? 18)
        device.isOnline = try fields.bool("online") ?? true
        if case .object(let members)? = fields["startTokens"] {
            for member in members {
                if case .string(let token) = member.value { device.startTokens[member.name] = token }
            }
        }
        for activity in try fields.array("activities") ?? [] {
            device.add(try restored(activity: activity, at: fields.place("activities")))
        }
        for value in try fields.array("waiting") ?? [] {
            let push = try JSONFields(
                value, at: fields.place("waiting"), known: ["bundleId", "token", "body", "expiresAt"])
            device.waiting[try push.requiredString("bundleId")] = .init(
                body: try bytes("body", push), token: try push.requiredString("token"),
                expiresAt: try date("expiresAt", push) ?? .distantPast)
        }
        return device
    }

    private static func restored(activity value: JSONValue, at place: String) throws(SimulatorError) -> Activity {
        let fields = try JSONFields(
            value, at: place,
            known: [
                "number", "bundleId", "attributesType", "attributes", "contentState", "timestamp", "startedAt",
                "channelId", "updateToken", "alert", "staleDate", "relevance", "endedAt", "dismissalDate", "removed",
                "applied",
            ])
        var activity = Activity(
            number: try fields.integer("number", in: 1...Int.max) ?? 1, app: try fields.requiredString("bundleId"),
            attributesType: try fields.string("attributesType") ?? "", attributes: try bytes("attributes", fields),
            startedAt: try date("startedAt", fields) ?? .distantPast, channelID: try fields.string("channelId"),
            updateToken: try fields.string("updateToken"), contentState: try bytes("contentState", fields),
            timestamp: try fields.integer("timestamp", in: Int.min...Int.max) ?? 0)
        activity.alert = try fields.string("alert").map { Array($0.utf8) }
        activity.staleDate = try date("staleDate", fields)
        activity.relevance = try fields.number(
            "relevance", in: -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)
        activity.endedAt = try date("endedAt", fields)
        activity.dismissalDate = try date("dismissalDate", fields)
        activity.isRemoved = try fields.bool("removed") ?? false
        activity.applied = try fields.integer("applied", in: 0...Int.max) ?? 1
        return activity
    }

    private static func restore(
        gone value: JSONValue, into state: inout SimulatorState, at place: String
    ) throws(SimulatorError) {
        let fields = try JSONFields(value, at: "\(place): goneTokens", known: ["token", "reason", "since"])
        _ = state.devices.retire(
            try fields.requiredString("token"), APNsReason(rawValue: try fields.requiredString("reason")),
            now: try date("since", fields) ?? .distantPast)
    }

    private static func environment(_ fields: JSONFields) throws(SimulatorError) -> APNsEnvironment {
        guard let environment: APNsEnvironment = try fields.choice("environment") else {
            throw SimulatorError("\(fields.place("environment")): development or production is expected.")
        }
        return environment
    }

    private static func date(_ name: String, _ fields: JSONFields) throws(SimulatorError) -> Date? {
        try fields.number(name, in: -1e15...1e15).map { Date(timeIntervalSince1970: $0) }
    }

    private static func bytes(_ name: String, _ fields: JSONFields) throws(SimulatorError) -> [UInt8] {
        Array((try fields.string(name) ?? "").utf8)
    }
}
