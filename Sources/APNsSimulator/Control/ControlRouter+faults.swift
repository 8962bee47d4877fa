internal import FoundationEssentials

/// `/faults`, `/quirks` and `/clock`.
extension ControlRouter {
    func faults(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        switch (request.method, request.path.count) {
        case ("GET", 1):
            return .ok(core.change { memory, _ in ["faults": .array(memory.faults.faults.map(\.json))] })
        case ("POST", 1): return try addFaults(request)
        case ("DELETE", 1):
            core.removeFaults { _ in true }
            return .done
        case ("DELETE", 2):
            let name = request.path[1]
            return core.removeFaults { $0.name == name }
                ? .done : .failure(404, "There is no fault \"\(name)\".")
        case (_, 1...2): return Self.methodNotAllowed(request)
        default: return .failure(404, "There is no such path below a fault: GET / lists all paths.")
        }
    }

    /// Adds one fault, or all faults of a script.
    private func addFaults(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        let value = try request.json()
        if case .object(let members) = value, members.contains(where: { $0.name == "faults" }) {
            let file = try FaultFile(request.body, at: "the body")
            let failure = core.change { memory, _ in memory.faults.add(file) }
            if let failure { throw failure }
            return .created(core.change { memory, _ in ["faults": .array(memory.faults.faults.map(\.json))] })
        }
        let fault = try Fault(value, at: "the body")
        let added = core.change { memory, _ in
            Result { () throws(SimulatorError) in try memory.faults.add(fault) }
        }
        return .created(try added.get().json)
    }

    func quirks(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        guard request.path.count == 1 else {
            return .failure(404, "There is no such path below /quirks: GET / lists all paths.")
        }
        switch request.method {
        case "GET": break
        case "PATCH":
            let fields = try JSONFields(try request.json(), at: "the body", known: Quirks.table.map(\.name))
            var changes: [(String, String)] = []
            for quirk in Quirks.table {
                if let value = try fields.string(quirk.name) { changes.append((quirk.name, value)) }
            }
            let wanted = changes
            let failure = core.change { memory, _ -> SimulatorError? in
                var quirks = memory.apns.quirks
                do throws(SimulatorError) {
                    for (name, value) in wanted { try quirks.set(name, to: value) }
                } catch {
                    return error
                }
                memory.apns.quirks = quirks
                return nil
            }
            if let failure { throw failure }
        case "DELETE": core.change { memory, _ in memory.apns.quirks = Quirks() }
        default: return Self.methodNotAllowed(request)
        }
        let quirks = core.change { memory, _ in memory.apns.quirks }
        return .ok([
            "quirks": .array(
                Quirks.table.map { quirk in
                    [
                        "name": .string(quirk.name), "value": .optional(quirks[quirk.name]),
                        "values": .strings(quirk.values), "summary": .string(quirk.summary),
                        "source": .string(quirk.source),
                    ]
                })
        ])
    }

    /// `{"advance": seconds}` shortens tests of things that take hours: expirations, stale dates, the life of tokens.
    func clock(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        guard request.path.count == 1 else {
            return .failure(404, "There is no such path below /clock: GET / lists all paths.")
        }
        switch request.method {
        case "GET": break
        case "PATCH":
            let fields = try JSONFields(try request.json(), at: "the body", known: ["advance"])
            guard let seconds = try fields.number("advance", in: 0...31_536_000) else {
                throw SimulatorError("the body.advance: missing; write the seconds, at most 31536000 (a year).")
            }
            core.change { memory, _ in
                memory.clockOffset += seconds
                memory.apns.devices.touch()
            }
        default: return Self.methodNotAllowed(request)
        }
        return .ok(
            core.change { memory, now in
                ["now": .seconds(now.timeIntervalSince1970), "ahead": .seconds(memory.clockOffset)]
            })
    }
}
