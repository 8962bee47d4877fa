import Testing

@testable import HTTP2

struct ConnectionLifeTests {
    private func open() -> ConnectionLife {
        var life = ConnectionLife()
        life.secured()
        _ = life.settingsArrived()
        return life
    }

    @Test func `only the first SETTINGS opens the connection`() {
        var life = ConnectionLife()
        #expect(life.settingsArrived() == false, "not before TLS")
        #expect(life.refusal != nil)
        life.secured()
        #expect(life.state == .awaitingSettings)
        #expect(life.settingsArrived() == true)
        #expect(life.isOpen)
        #expect(life.refusal == nil)
        #expect(life.settingsArrived() == false)
    }

    @Test func `only the first call to leave a connection counts, and it then stays draining`() {
        var life = open()
        #expect(life.leave("first") == true)
        #expect(life.leave("second") == false)
        #expect(life.state == .draining(reason: "first"))
        #expect(life.settingsArrived() == false)
        #expect(life.refusal?.contains("first") == true)
    }

    @Test func `a connection that drained and closed has both reasons`() {
        var life = open()
        _ = life.leave("GOAWAY")
        #expect(life.close("the peer closed") == true)
        #expect(life.closeReason == "GOAWAY; the peer closed")
        #expect(life.close("again") == false)
        #expect(life.leave("late") == false)
        #expect(life.isClosed)
    }

    @Test func `a connection may end in any state`() {
        var early = ConnectionLife()
        #expect(early.close("refused") == true)
        early.secured()
        #expect(early.state == .closed(reason: "refused"))
    }
}
