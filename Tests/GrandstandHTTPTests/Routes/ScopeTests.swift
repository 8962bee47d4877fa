internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandHTTP

/// Every operation of the contract with an API key of every scope. A request that is refused calls no port, because
/// access is checked first.
struct ScopeTests {
    @Test func `a route needs a key with its scope`() async throws {
        for operation in Contract.Operation.all {
            guard let scopes = operation.scopes?.map(\.rawValue) else { continue }
            let world = RouteWorld()
            for (secret, advice) in [(nil, "Authorization: Bearer"), ("gs_wrong", "grandstand keys create")] {
                let answer = try await world(operation.method, operation.sample, as: secret)
                #expect(answer.status == 401, "\(operation.id)")
                #expect(answer.slug == "unauthenticated", "\(operation.id)")
                #expect(answer.detail.contains(advice), "\(operation.id)")
            }
            for scope in APIKey.Scope.allCases {
                let answer = try await world(operation.method, operation.sample, as: "gs_\(scope.rawValue)")
                // A key with the scope device may use lookups, but not the operations that every other key may use.
                let mayPass =
                    scopes.isEmpty
                    ? scope != .device
                    : scope == .admin || scopes.contains(scope.rawValue)
                        || scope == .device && scopes == ["lookup"]
                #expect(
                    mayPass == (answer.slug != "forbidden"), "\(operation.id) with \(scope.rawValue): \(answer.text)")
                guard !mayPass else { continue }
                #expect(answer.status == 403, "\(operation.id) with \(scope.rawValue)")
                guard !scopes.isEmpty else {
                    #expect(answer.detail.hasSuffix("for installations of its app and for lookups only."))
                    continue
                }
                let words = scopes.sorted().joined(separator: " or ")
                #expect(answer.detail.hasSuffix("does not hold the scope \(words)."), "\(operation.id)")
            }
        }
    }

    @Test func `a key of one app cannot use a path with another app`() async throws {
        var count = 0
        for operation in Contract.Operation.all where operation.path.contains("{bundleId}") {
            let path = operation.sample.replacingOccurrences(of: "com.example.Stadium", with: "com.example.Other")
            let answer = try await RouteWorld()(operation.method, path, as: "gs_stadium_admin")
            #expect(answer.status == 403, "\(operation.id)")
            #expect(answer.detail.contains("com.example.Stadium only"), "\(operation.id)")
            count += 1
        }
        #expect(count > 10)
    }

    @Test func `an unknown query parameter is refused with the known ones`() async throws {
        for operation in Contract.Operation.all where operation.scopes != nil {
            let answer = try await RouteWorld()(operation.method, operation.sample + "?nonsense=1")
            #expect(answer.slug == "unknown-field", "\(operation.id)")
            #expect(answer.pointers == ["nonsense"], "\(operation.id)")
            for name in operation.query { #expect(answer.text.contains(name), "\(operation.id)") }
        }
    }
}
