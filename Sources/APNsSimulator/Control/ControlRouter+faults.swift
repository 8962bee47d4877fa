internal import FoundationEssentials
internal import JSON

/// `/faults`, `/quirks` and `/clock`.
extension ControlRouter {
    func faults(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        switch (request.method, request.path.count) {
        case ("GET", 1):
            return .ok(core.change { memory, _ in memory.faults.text })
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
        if value["faults"] != nil {
            let file = try FaultFile(request.body, at: "the body")
            let failure = core.change { memory, _ in memory.faults.add(file) }
            if let failure { throw failure }
            return .created(core.change { memory, _ in memory.faults.text })
        }
        let fault = try Fault(value, at: "the body")
        let added = try core.change { memory, _ in
            Result { () throws(SimulatorError) in try memory.faults.add(fault) }
        }.get()
        return .created(JSONWriter.text { added.write(members: &$0) })
    }

    func quirks(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        guard request.path.count == 1 else {
            return .failure(404, "There is no such path below /quirks: GET / lists all paths.")
        }
        switch request.method {
        case "GET": break
        case "PATCH":
            let wanted: [String: String] = try request.read()
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
        return .ok(
            JSONWriter.text { object in
                object.objects("quirks", Quirks.table) { object, quirk in
                    object.member("name", quirk.name)
                    object.member("value", quirks[quirk.name])
                    object.member("values", quirk.values)
                    object.member("summary", quirk.summary)
                    object.member("source", quirk.source)
                }
            })
    }

    /// `{"advance": seconds}` shortens tests of things that take hours: expirations, stale dates, the life of tokens.
    func clock(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        guard request.path.count == 1 else {
            return .failure(404, "There is no such path below /clock: GET / lists all paths.")
        }
        switch request.method {
        case "GET": break
        case "PATCH":
            struct Change: Decodable {
                /// Seconds, at most a year.
                var advance: Double
            }
            let change: Change = try request.read()
            try SimulatorError.check(change.advance, in: 0...31_536_000, at: "the body.advance")
            core.change { memory, _ in
                memory.clockOffset += change.advance
                memory.apns.devices.touch()
            }
        default: return Self.methodNotAllowed(request)
        }
        return .ok(
            core.change { memory, now in
                JSONWriter.text { object in
                    object.member("now", now.seconds)
                    object.member("ahead", memory.clockOffset)
                }
            })
    }
}

extension FaultBook {
    fileprivate var text: [UInt8] {
        JSONWriter.text { object in object.objects("faults", faults) { $1.write(members: &$0) } }
    }
}
