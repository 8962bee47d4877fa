internal import Foundation
internal import GrandstandClient
internal import JSON
internal import Testing

/// Keys and secrets are in no description, debugger output or dump.
struct SecretTests {
    private static let secret = "gs_do_not_print_me"

    private struct Silent: ClientTransport {
        func open(_ request: GrandstandClient.Request) async throws -> GrandstandClient.Answer {
            throw URLError(.timedOut)
        }
    }

    private static func texts(_ value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped].joined(separator: "\n")
    }

    @Test func `values that contain a key or a secret do not show it in logs`() async throws {
        let app = GrandstandClient.AppEnvironment("com.example.Stadium", .production)
        let identity = GrandstandClient.InstallationIdentity(
            app: app, installationId: "INSTALLATION", secret: Self.secret)
        let transport = ScriptedTransport([{ .json("{}") }])
        let server = try #require(URL(string: "https://grandstand.example"))
        let client = GrandstandClient(server: server, key: Self.secret, transport: Silent())
        let call = GrandstandClient.Call<GrandstandClient.Installation>.getInstallation(identity)
        _ = try await GrandstandClient(server: server, key: Self.secret, transport: transport).exchange(call)
        let request = try #require(transport.requests.first)
        #expect(request.headers["Authorization"] == "Bearer \(Self.secret)")
        #expect(request.headers["Grandstand-Installation-Secret"] == Self.secret)
        let issued =
            #"{"id":"k","name":"n","scopes":["device"],"prefix":"gs_","state":"active","createdAt":"2026-11-21T20:45:00Z","secret":"\#(Self.secret)"}"#
        let key = try JSONValue(decoding: issued.utf8).decode(GrandstandClient.IssuedKey.self)
        #expect(key.secret == Self.secret && key.name == "n")
        for value: Any in [client, identity, call, request, key] {
            #expect(!Self.texts(value).contains(Self.secret), "\(type(of: value))")
        }
        // The encoded identity, as it is stored in the keychain, contains the complete secret.
        let kept = try JSONDecoder().decode(
            GrandstandClient.InstallationIdentity.self, from: try JSONEncoder().encode(identity))
        #expect(kept == identity && kept.secret == Self.secret)
    }
}
