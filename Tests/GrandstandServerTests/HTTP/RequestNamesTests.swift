internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

/// The IDs that the server gives to requests.
struct RequestNamesTests {
    @Test func `request IDs are unique, and have a form that callers may use for theirs`() {
        let names = (0..<1_000).map { _ in RequestNames.next() }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { RequestID(rawValue: $0) != nil && $0.utf8.count <= 16 })
    }
}
