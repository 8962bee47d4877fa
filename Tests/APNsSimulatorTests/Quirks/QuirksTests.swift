internal import APNsWire
internal import Foundation
internal import Testing

@testable internal import APNsSimulator

struct QuirksTests {
    @Test func `every quirk can be set to each of its values, and the simulator's manual names them all`() throws {
        let manual = URL(filePath: #filePath).appending(path: "../../../../docs/simulator.md").standardized
        let text = try String(contentsOf: manual, encoding: .utf8)
        for quirk in Quirks().table {
            #expect(text.contains("| `\(quirk.name)` |"))
            for value in quirk.values {
                var quirks = Quirks()
                try quirks.set(["\(quirk.name)=\(value)"])
                #expect(quirks.table.first { $0.name == quirk.name }?.value == value)
                #expect((quirks == Quirks()) == (value == quirk.values[0]))
                #expect(text.contains("`\(value)`"), "\(quirk.name)=\(value)")
            }
        }
    }

    @Test(arguments: ["capitals", "capitals=maybe", "weather=fine", "=x"])
    func `an unknown name or value is refused`(text: String) {
        var quirks = Quirks()
        #expect(throws: SimulatorError.self) { try quirks.set([text]) }
    }

    @Test func `in production, too, a broadcast has a unique ID`() throws {
        var bench = try Bench()
        let id = try bench.create(policy: 0, in: .production)
        let first = try bench.broadcast(on: id, in: .production)[header: "apns-unique-id"]
        #expect(first?.count == 36)
        #expect(try bench.broadcast(on: id, in: .production)[header: "apns-unique-id"] != first)
    }
}
