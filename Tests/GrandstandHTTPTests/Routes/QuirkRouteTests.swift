internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// `/v1/apps/{bundleId}/{environment}/quirks/{quirk}`.
struct QuirkRouteTests {
    private static let path = "/v1/apps/com.example.stadium/production/quirks/management-path"

    static let refusals: [Refusal] = [
        .init("no value", "PUT", path, "{}", pointers: ["/value"]),
        .init("another quirk's value", "PUT", path, #"{"value": "zero"}"#, pointers: ["/value"], hint: "lowercased"),
        .init(
            "an unknown field", "PUT", path, #"{"value": "lowercased", "until": 1}"#, slug: "unknown-field",
            pointers: ["/until"]),
        .init(
            "no quirk", "PUT", path + "s", #"{"value": "lowercased"}"#, status: 404, slug: "not-found",
            hint: "broadcast-feature"),
        .init(
            "no environment", "PUT", path.replacingOccurrences(of: "production", with: "staging"), "{}", status: 404,
            slug: "not-found", pointers: ["environment"]),
    ]

    @Test(arguments: refusals)
    func `bad input is refused before any call`(refusal: Refusal) async throws { try await refusal.check() }

    @Test(arguments: ["lowercased", "registered"])
    func `a value is stored with the actor, for the bundle ID in its registered spelling`(value: String) async throws {
        var world = RouteWorld()
        world.apps.find = { $0.topic == Sample.stadium.topic ? Sample.app() : nil }
        world.quirks.keep = { quirk, app in
            let wanted = Quirk(
                environment: .production, name: .managementPath, value: value, learnedAt: RouteWorld.now,
                evidence: "set by key:test")
            guard quirk == wanted, app.bundleID == Sample.stadium, app.environment == .production else {
                throw Unasked()
            }
        }
        let answer = try await world("PUT", Self.path, #"{"value": "\#(value)"}"#)
        #expect(answer.status == 200)
        #expect(
            answer.text
                == #"{"environment":"production","quirk":"management-path","value":"\#(value)","#
                + #""learnedAt":"2026-11-21T20:45:00.000Z","evidence":"set by key:test"}"#)
    }
}
