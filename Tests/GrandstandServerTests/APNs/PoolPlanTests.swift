internal import HTTP2
internal import Testing

@testable internal import GrandstandServer

/// Which connection a request gets, and when another one is opened.
struct PoolPlanTests {
    private static func member(
        _ inUse: Int, of limit: Int = 1_000, waiting: Int = 0, isProven: Bool = true, isUsable: Bool = true
    ) -> HTTP2ConnectionState {
        var state = HTTP2ConnectionState()
        (state.isUsable, state.isProven) = (isUsable, isProven)
        (state.streamsInUse, state.streamLimit, state.waiting) = (inUse, limit, waiting)
        return state
    }

    private let plan = PoolPlan(target: 2, bound: 4)

    @Test func `the connection with the fewest requests is chosen, if it has room`() {
        #expect(plan.choose([Self.member(5), Self.member(3), Self.member(4)]) == 1)
        #expect(plan.choose([Self.member(50), Self.member(1, of: 1)]) == 0)
        #expect(plan.choose([Self.member(1_000), Self.member(900)]) == 1)
    }

    @Test func `connections with equally many requests take turns`() {
        let members = [Self.member(0), Self.member(0), Self.member(0)]
        #expect((0..<6).map { plan.choose(members, turn: $0) } == [0, 1, 2, 0, 1, 2])
        #expect((0..<3).map { plan.choose([Self.member(2), Self.member(1), Self.member(2)], turn: $0) } == [1, 1, 1])
    }

    @Test func `if no connection has room, the one with the shortest queue is chosen`() {
        #expect(plan.choose([Self.member(1, of: 1, waiting: 9), Self.member(1, of: 1, waiting: 3)]) == 1)
    }

    @Test func `a connection that accepts nothing is not chosen, and without connections none is`() {
        #expect(plan.choose([Self.member(0, isUsable: false), Self.member(9)]) == 1)
        #expect(plan.choose([Self.member(0, isUsable: false)]) == nil)
        #expect(plan.choose([]) == nil)
    }

    @Test func `a connection that just refused is chosen only if there is no other`() {
        #expect(plan.choose([Self.member(0), Self.member(900)], avoiding: 0) == 1)
        #expect(plan.choose([Self.member(900), Self.member(0)], avoiding: 1) == 0)
        #expect(plan.choose([Self.member(0), Self.member(9), Self.member(3)], avoiding: 0) == 2)
        #expect(plan.choose([Self.member(0)], avoiding: 0) == 0)
    }

    @Test func `the first request opens the first connection, and only one`() {
        #expect(plan.wantsOneMore([], opening: 0, waiters: 0))
        #expect(!plan.wantsOneMore([], opening: 1, waiters: 1))
    }

    @Test func `concurrent requests open the target number of connections`() {
        #expect(plan.wantsOneMore([], opening: 1, waiters: 2))
        #expect(!plan.wantsOneMore([], opening: 2, waiters: 200))
        #expect(plan.wantsOneMore([Self.member(1)], opening: 0, waiters: 0))
        #expect(!plan.wantsOneMore([Self.member(0)], opening: 0, waiters: 0))
    }

    @Test func `beyond the target one connection at a time opens, when all are full and proven usable`() {
        let full = Self.member(PoolPlan.full)
        #expect(plan.wantsOneMore([full, full], opening: 0, waiters: 0))
        #expect(!plan.wantsOneMore([full, full], opening: 1, waiters: 0))
        #expect(!plan.wantsOneMore([full, Self.member(10)], opening: 0, waiters: 0))
        #expect(
            !plan.wantsOneMore([full, Self.member(1, of: 1, waiting: 99, isProven: false)], opening: 0, waiters: 0))
        #expect(plan.wantsOneMore([full, Self.member(20, of: 20)], opening: 0, waiters: 0))
        #expect(!plan.wantsOneMore([full, full, full, full], opening: 0, waiters: 0))
    }

    @Test func `connections that are closing do not count`() {
        #expect(plan.wantsOneMore([Self.member(0, isUsable: false)], opening: 0, waiters: 0))
    }
}
