internal import FoundationEssentials

/// A script of faults: `{"seed": 7, "faults": [ … ]}`.
struct FaultFile: Sendable {
    /// `nil`: keep the random numbers of the simulator's own seed.
    var seed: UInt64?
    var faults: [Fault]

    /// - Throws: an error that says what is wrong with the text, and where.
    init(_ text: [UInt8], at place: String) throws(SimulatorError) {
        guard let value = JSONValue(parsing: text) else { throw SimulatorError("\(place) is not JSON in UTF-8.") }
        let fields = try JSONFields(value, at: place, known: ["seed", "faults"])
        seed = try fields.integer("seed", in: 0...Int.max).map { UInt64($0) }
        faults = []
        for (index, fault) in (try fields.array("faults") ?? []).enumerated() {
            faults.append(try Fault(fault, at: "\(place): faults[\(index)]"))
        }
    }

    init(path: String) throws(SimulatorError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SimulatorError("\(path) cannot be read: name a file of faults with --faults.")
        }
        try self.init(Array(data), at: path)
    }
}
