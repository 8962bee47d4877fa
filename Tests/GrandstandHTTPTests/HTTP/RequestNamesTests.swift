internal import Grandstand
internal import Testing

@testable internal import GrandstandHTTP

/// The names that the server gives to requests.
struct RequestNamesTests {
    @Test func `no two requests have the same name, and a caller could have given it`() {
        let names = (0..<1_000).map { _ in RequestNames.next() }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { RequestID(rawValue: $0) != nil && $0.utf8.count <= 16 })
    }
}
