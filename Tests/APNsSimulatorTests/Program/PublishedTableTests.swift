internal import APNsSimulator
internal import Foundation
internal import HTTP2
internal import Testing

/// Runs docs/internals/conformance.json with this package's client, over HTTP/2 and TLS, one connection for each case.
/// scripts/simulator-conformance runs the same table with other clients.
@Suite(.timeLimit(.minutes(2)))
struct PublishedTableTests {
    @Test func `the simulator answers every case of the published conformance table as the table says`() async throws {
        let table = try Table.published()
        #expect(table.cases.count > 100)
        try await ControlStage.with { stage in
            let tokens = try Self.tokens(stage.running.provider)
            for (number, row) in table.cases.enumerated() {
                let faults = try await Self.faults(of: row, number, tokens, stage)
                #expect(faults.isEmpty, "\(row.operation): \(row.case): \(faults.joined(separator: "; "))")
            }
        }
    }

    /// Valid and invalid tokens, by their names in the table.
    private static func tokens(_ provider: Provider) throws -> [String: String] {
        let now = Date()
        let seconds = Int(now.timeIntervalSince1970)
        let stranger = Provider(keyID: provider.keyID, teamID: provider.teamID)
        let header = #"{"alg":"ES256","kid":"\#(provider.keyID)"}"#
        return [
            "token": try provider.token(at: now),
            "expired": try provider.token(at: now - 3_700),
            "future": try provider.token(at: now + 86_400),
            "forged": try stranger.token(at: now),
            "unknownKey": try Provider(keyID: "NOBODYSKEY", teamID: provider.teamID).token(at: now),
            "stringIat": try provider.token(
                header: header, claims: #"{"iss":"\#(provider.teamID)","iat":"\#(seconds)"}"#),
            "algNone": try provider.token(
                header: #"{"alg":"none","kid":"\#(provider.keyID)"}"#,
                claims: #"{"iss":"\#(provider.teamID)","iat":\#(seconds)}"#),
        ]
    }

    /// The differences between the answer and the table.
    private static func faults(
        of row: Table.Case, _ number: Int, _ tokens: [String: String], _ stage: ControlStage
    ) async throws -> [String] {
        let values = try await TableValues(number, tokens, stage)
        let headers = ["authorization": "bearer {token}"].merging(row.headers ?? [:]) { $1 }
            .filter { !$0.value.isEmpty }.mapValues(values.fill)
        let client = Client(connection: try await stage.running.connect())
        let answer = try await client.send(row.method, values.fill(row.path), headers, values.fill(row.body ?? ""))
        await client.connection.close()

        var faults: [String] = []
        if answer.status != row.status { faults.append("status \(answer.status)") }
        if let reason = row.reason {
            if !answer.text.hasPrefix(#"{"reason":"\#(reason)""#) { faults.append("body \(answer.text)") }
        } else if let body = row.answerBody, values.fill(body) != answer.text {
            faults.append("body \(answer.text)")
        }
        return faults + row.answerHeaders.filter { answer[header: $0] == nil }.map { "without \($0)" }
    }
}

/// The content of docs/internals/conformance.json.
private struct Table: Decodable {
    struct Case: Decodable {
        let operation: String
        let `case`: String
        let method: String
        let path: String
        let headers: [String: String]?
        let body: String?
        let status: Int
        let reason: String?
        let answerHeaders: [String]
        let answerBody: String?
    }

    let cases: [Case]

    static func published() throws -> Table {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        return try JSONDecoder().decode(
            Table.self, from: Data(contentsOf: root.appending(path: "docs/internals/conformance.json")))
    }
}

/// The values of the placeholders in one case: a new app, its channels, phones and tokens.
private struct TableValues {
    private var values: [String: String]
    private let now = Int(Date().timeIntervalSince1970)

    init(_ number: Int, _ tokens: [String: String], _ stage: ControlStage) async throws {
        let app = "com.example.case\(number)"
        let channels = "/apps/\(app)/development/channels"
        func make(_ policy: String) async throws -> String {
            let made = try await stage.call("POST", channels, #"{"storagePolicy": "\#(policy)"}"#)
            return try #require((made.json["channelIds"] as? [String])?.first)
        }
        values = tokens.merging([
            "app": app, "App": app.replacing("case", with: "Case"), "none": try await make("noMessageStored"),
            "stored": try await make("mostRecentMessageStored"), "deleted": try await make("noMessageStored"),
            "long": String(repeating: "AAAA", count: 65),
        ]) { $1 }
        let deleted = values["deleted"]?.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        _ = try await stage.call("DELETE", "\(channels)/\(deleted)")
        for (name, environment) in [
            ("device", "development"), ("otherDevice", "production"), ("goneDevice", "development"),
        ] {
            let phone = try await stage.call(
                "POST", "/devices",
                #"{"id": "\#(name)-\#(number)", "environment": "\#(environment)", "bundleIds": ["\#(app)"]}"#)
            values[name] = (phone.json["pushToStartTokens"] as? [String: String])?[app]
        }
        _ = try await stage.call("DELETE", "/tokens/\(values["goneDevice"] ?? "")")
        let activity = try await stage.call(
            "POST", "/devices/device-\(number)/activities", #"{"bundleId": "\#(app)", "pushToken": true}"#)
        values["activity"] = activity.json["updateToken"] as? String
    }

    func fill(_ text: String) -> String {
        text.replacing(#/\{([A-Za-z]+)(?:[+:](\d+))?\}/#) { match in
            let (name, number) = (String(match.1), match.2.flatMap { Int($0) } ?? 0)
            switch name {
            case "now": return String(now + number)
            case "padded":
                let frame = #"{"aps":{"timestamp":\#(now),"event":"update","content-state":{"x":""}}}"#
                let padding = String(repeating: "x", count: max(0, number - frame.utf8.count))
                return frame.replacing(#""x":"""#, with: #""x":"\#(padding)""#)
            default: return values[name] ?? String(match.0)
            }
        }
    }
}
