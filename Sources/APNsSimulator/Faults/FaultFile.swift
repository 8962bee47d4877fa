internal import FoundationEssentials
internal import JSON

/// A script of faults: `{"seed": 7, "faults": [ … ]}`.
struct FaultFile: Sendable {
    /// `nil`: keep the random numbers of the simulator's own seed.
    var seed: UInt64?
    var faults: [Fault]

    private struct Draft: Decodable {
        var seed: UInt64?
        var faults: [JSONValue]?
    }

    /// - Throws: an error that says what is wrong with the text, and where.
    init(_ text: [UInt8], at place: String) throws(SimulatorError) {
        let draft: Draft = try JSONValue(text, at: place).read(at: place)
        seed = draft.seed
        faults = []
        for (index, fault) in (draft.faults ?? []).enumerated() {
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
