internal import APNsWire

/// The faults of a simulator, in the order they were added. At most one fault acts on a request: the first one that
/// applies to it.
struct FaultBook: Sendable {
    /// A script of faults: `{"seed": 7, "faults": [ … ]}`.
    struct Script: Decodable {
        /// `nil`: keep the random numbers of the simulator's own seed.
        var seed: UInt64?
        var faults: [Fault]?
    }

    private(set) var faults: [Fault] = []
    private var random: SeededRandom
    private var made = 0
    /// The answers that faults withhold until they are removed, by the fault's name.
    private var withheld: [String: [@Sendable () -> Void]] = [:]

    /// - Parameter seed: makes the faults' rates reproducible.
    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Adds a fault at the end. If it has no name, it gets one.
    ///
    /// - Returns: the fault as it was added.
    /// - Throws: if the name is taken.
    mutating func add(_ fault: Fault) throws(SimulatorError) -> Fault {
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

    /// Adds a script completely or not at all. If it has a seed, the random numbers start again from this seed.
    mutating func add(_ script: Script) throws(SimulatorError) {
        var book = self
        if let seed = script.seed { book.random = SeededRandom(seed: seed) }
        for fault in script.faults ?? [] { _ = try book.add(fault) }
        self = book
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
    mutating func claim(_ request: SimulatorRequest, _ route: Route?) -> Fault? {
        claim { $0.action != .tls && $0.match.matches(request, route) }
    }

    /// The fault that acts on a new connection.
    mutating func claim(connectionTo environment: APNsEnvironment) -> Fault? {
        claim { $0.action == .tls && $0.match.environment ?? environment == environment }
    }

    private mutating func claim(where matches: (Fault) -> Bool) -> Fault? {
        for index in faults.indices where matches(faults[index]) && faults[index].claim(using: &random) {
            return faults[index]
        }
        return nil
    }
}
