internal import APNsWire
internal import Testing

@testable internal import APNsSimulator

struct SimulatedAppTests {
    @Test func `only the newest deletions are remembered`() {
        var app = SimulatedApp()
        for number in 0...SimulatedApp.rememberedDeletions {
            app.add("\(number)", .noMessageStored, now: Bench.now)
            let wasThere = app.delete("\(number)")
            #expect(wasThere)
        }
        #expect(!app.wasDeleted("0"))
        #expect(app.wasDeleted("1"))
        #expect(app.wasDeleted("\(SimulatedApp.rememberedDeletions)"))
    }
}
