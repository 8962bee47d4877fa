internal import APNsWire

/// The faults of a simulator, in the order they were added. At most one fault acts on a request: the first one that
/// applies to it.
struct FaultBook: Sendable {
    private(set) var faults: [Fault] = []
    private var random: SeededRandom
    private var made = 0
    /// The answers that faults withhold until they are removed, by the fault's name.
    private var withheld: [String: [@Sendable () -> Void]] = [:]

    /// The most faults. There is a limit because every request checks all faults.
    static let capacity = 1_000

    /// - Parameter seed: makes the faults' rates reproducible.
    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Restarts the random numbers, which decide about faults with a `rate`, from this seed.
    mutating func reseed(_ seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Adds a fault at the end. If it has no name, it gets one.
    ///
    /// - Returns: the fault as it was added.
    /// - Throws: if the name is taken, or there are too many faults.
    mutating func add(_ fault: Fault) throws(SimulatorError) -> Fault {
        guard faults.count < Self.capacity else {
            throw SimulatorError("There are \(Self.capacity) faults already: remove some.")
        }
        var fault = fault
        made += 1
        if fault.name.isEmpty { fault.name = "fault-\(made)" }
        guard !faults.contains(where: { $0.name == fault.name }) else {
            throw SimulatorError(
                "There is a fault \"\(fault.name)\" already: remove it first, or choose another name.")
        }
        faults.append(fault)
        return fault
    }

    /// Adds a script completely or not at all.
    ///
    /// - Returns: the reason if it was not added.
    mutating func add(_ file: FaultFile) -> SimulatorError? {
        let before = self
        if let seed = file.seed { reseed(seed) }
        do throws(SimulatorError) {
            for fault in file.faults { _ = try add(fault) }
            return nil
        } catch {
            self = before
            return error
        }
    }

    /// Withholds an answer until the fault is removed.
    mutating func withhold(_ answer: @escaping @Sendable () -> Void, by name: String) {
        withheld[name, default: []].append(answer)
    }

    /// - Returns: the answers that the removed faults withheld, in the order of their requests; `nil` if no fault was
    ///   removed.
    mutating func remove(where isRemoved: (Fault) -> Bool) -> [@Sendable () -> Void]? {
        let names = faults.filter(isRemoved).map(\.name)
        faults.removeAll(where: isRemoved)
        return names.isEmpty ? nil : names.flatMap { withheld.removeValue(forKey: $0) ?? [] }
    }

    /// The fault that acts on a request.
    mutating func claim(_ request: SimulatorRequest) -> Fault? {
        guard !faults.isEmpty else { return nil }
        let route = try? Route(method: request.method, path: request.path)
        for index in faults.indices {
            if case .tls = faults[index].action { continue }
            guard faults[index].match.matches(request, route), faults[index].claim(using: &random) else { continue }
            return faults[index]
        }
        return nil
    }

    /// How a new connection fails during TLS; `nil`: it does not.
    mutating func claim(connectionTo environment: APNsEnvironment) -> FaultAction.TLSFailure? {
        for index in faults.indices {
            guard case .tls(let failure) = faults[index].action else { continue }
            if let wanted = faults[index].match.environment, wanted != environment { continue }
            if faults[index].claim(using: &random) { return failure }
        }
        return nil
    }
}
